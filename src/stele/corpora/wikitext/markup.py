"""Remove layers of wikitext: templates, tables, files, HTML tags, magic words (extensions.py removes others first).

Each layer takes one linear pass, whatever the nesting; markup that is never closed takes no longer than other markup.
The order is MediaWiki's: comments and extension tags first (nothing inside them is markup), then braces, then tables.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import accumulate

from stele.corpora.wikitext import extensions
from stele.corpora.wikitext.extensions import ATTRIBUTES, DROPPED, one_of, replaced

_BRACES = re.compile(r"\{\{+|\}\}+")
_LEFT_BRACES, _RIGHT_BRACES = re.compile(r"\{\{"), re.compile(r"\}\}")  # twice as fast as `"{{" in text`
_INNERMOST = re.compile(r"\{\{(?<!\{\{\{)[^{}]*+\}\}")  # a template with nothing in braces inside
_HTML_TABLE = re.compile(rf"<(table)\b{ATTRIBUTES}>|</table\s*>", re.I)
_HEADING_OR_END = re.compile(r"^=[^\n]+=[ \t]*$|\Z", re.M)
_BLOCKS = "p|div|li|ul|ol|dl|dt|dd|h1|h2|h3|h4|h5|h6|blockquote|center|poem|hr|tr|td|th|caption|tbody|thead|form"
_BLOCK_TAG = re.compile(rf"</?{one_of(_BLOCKS)}(?:\s{ATTRIBUTES})?/?>", re.I)
_BREAK = re.compile(rf"<\s*+(?:/\s*+)?br\b{ATTRIBUTES}>", re.I)
_INLINE = (
    "a|abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|mark|nobr|q|rb|rp|rt|rtc|ruby|s|samp|small|span|strike"
    "|strong|sub|sup|time|tt|u|var|wbr|table|col|colgroup|tfoot|translate|tvar|languages|abstract|button|input|label|option"
    f"|select|textarea|center|noinclude|onlyinclude|nowiki|poem|phonos|langconvert|link|meta|{DROPPED}"
)
_INLINE_TAG = re.compile(rf"</?{one_of(_INLINE)}(?:\s{ATTRIBUTES})?/?>", re.I)
# tags with a typo, such as <br.> or <small;>, whose names are not words
_ODD_TAG = re.compile(
    r"</?(?:div|span|font|small|center|table|t[dhr]|br|su[bp]|blockquote|ref|references|gallery|nowiki)[^\w<>-][^<>]*>",
    re.I,
)
_TAGS = ((_BREAK, " "), (_BLOCK_TAG, "\n\n"), (_INLINE_TAG, ""), (_ODD_TAG, " "))  # tag -> text shown
_SHORT_TAG = re.compile(r"(<[^<>]{0,100}+>)")
_ANY_TAG = f"{_BREAK.pattern}|{_BLOCK_TAG.pattern}|{_INLINE_TAG.pattern}|{_ODD_TAG.pattern}"
_ANY_MARK = rf"\[\[|\]\]|\{{\{{+|\}}\}}+|\{{\||\|\}}|<!--|-->|{_ANY_TAG}|</?references?(?![\w-])|</?ref(?![\w-])"
_MARK = re.compile(rf"(?=[\[\]{{}}|<-])(?:^(?:(?:{_ANY_MARK}) ?)+|(?<= )(?:{_ANY_MARK}) ?|{_ANY_MARK})", re.I)
_FIRST_MARK = re.compile(_ANY_MARK, re.I)  # faster if there is none
_TORN_TAG = re.compile(
    rf"</?(?:{DROPPED}|nowiki|div|span|table|br|small|center|font|blockquote|su[bp])(?=[\s/<]|\Z)[^<>\n]*(?=[<\n]|\Z)",
    re.I,
)
_VARIANTS = re.compile(r"-\{([^{}]*)\}-")
_MAGIC_WORD = re.compile(r"__((?:(?!__)\w)+)__")
# MediaWiki's words of page behaviour and aliases of some languages (languages/messages, and its extensions
# Disambiguator, Wikibase, GlobalUserPage and DiscussionTools); those in other scripts are known by their letters, since
# code has none of those between underscores
_ANY_CASE = """
    notoc forcetoc toc noeditsection nogallery notitleconvert notc nocontentconvert nocc archivedtalk notalk
    kein_inhaltsverzeichnis keininhaltsverzeichnis inhaltsverzeichnis_erzwingen inhaltsverzeichnis
    abschnitte_nicht_bearbeiten keine_galerie keinegalerie
    aucunsommaire aucunetdm forcersommaire forcertdm sommaire tdm sectionnoneditable aucunegalerie
    sin_tdc notdc no_tdc forzar_tdc forzartdc tdc no_editar_seccion sin_galeria nogaleria forcar_tdc semtdc
    nienne_indice forzaindice geeninhoud inhoud forceerinhoud bezspisu spis wymusspis
"""
_UPPER_CASE = """
    NEWSECTIONLINK NONEWSECTIONLINK HIDDENCAT EXPECTUNUSEDCATEGORY EXPECTUNUSEDTEMPLATE INDEX NOINDEX STATICREDIRECT
    DISAMBIG NOGLOBAL EXPECTED_UNCONNECTED_PAGE
    INDEXIEREN INDIZIEREN NICHT_INDEXIEREN NICHT_INDIZIEREN VERSTECKTE_KATEGORIE WARTUNGSKATEGORIE
    NEUER_ABSCHNITTSLINK PLUS_LINK KEIN_NEUER_ABSCHNITTSLINK KEIN_PLUS_LINK PERMANENTE_WEITERLEITUNG
    LIENNOUVELLESECTION AUCUNLIENNOUVELLESECTION CATCACHEE AUCUNINDEX REDIRECTIONSTATIQUE INDICE NOINDICE
"""
_EXTERNAL = re.compile(  # the lookahead skips most brackets, which are links
    r"\[(?=[a-z]*:|//)(?:(?:https?|ftps?|git|gopher|ircs?|news|nntp|sftp|ssh|svn|telnet|worldwind)://|//|mailto:|news:|tel:|urn:|geo:|xmpp:)"
    r"[^\s\[\]<>\"]*+[^\S\n]*+((?:[^\[\]\n]++|\[\[[^\[\]\n]*+\]\]|\[[^\[\]\n]*+\])*+)\]",
    re.I,
)
_PREFIXED_LINK = re.compile(r"\[\[([^\[\]|{}<>\n:]++):([^\[\]|{}<>\n]++)")
_LINK_TOKEN = re.compile(r"\[\[|\]\]")


def drop_templates(text: str) -> str:
    """Removes `{{...}}` and `{{{...}}}`, nested or not; removes an unclosed one to the end of its line."""
    rounds = 0
    while (left := "{" in text and _LEFT_BRACES.search(text)) and rounds < 3:
        text = _INNERMOST.sub("", text)  # most templates, fast; what is left is read brace by brace
        rounds += 1
    if not left and not ("}" in text and _RIGHT_BRACES.search(text)):
        return text
    regions: list[tuple[int, int]] = []
    opened: list[list[int]] = []  # [position, braces left]
    for match in _BRACES.finditer(text):
        start, end = match.span()
        if text[start] == "{":
            opened.append([start, end - start])
            continue
        braces = end - start
        while braces >= 2 and opened:
            position, available = opened[-1]
            used = min(available, braces)
            braces -= used
            opened[-1][1] -= used
            if opened[-1][1] < 2:
                opened.pop()
            else:
                position += opened[-1][1]
            _add_region(regions, position, end - braces if opened else end)
        if braces >= 2:
            regions.append((end - braces, end))
    return _without(text, regions + _to_line_ends(text, [position for position, _ in opened]))


def drop_tables(text: str) -> str:
    """Removes `{| ... |}` and `<table>`, nested or not; removes an unclosed one up to the next heading."""
    if "{" in text and (openings := list(_at_line_starts(text, "{|", "{", " \t:*#;"))):
        closings = _at_line_starts(text, "|}", "}", " \t")
        text = _drop_nested(text, [start for start, _ in openings], [end for _, end in closings])
    if "<" in text and (tags := list(_HTML_TABLE.finditer(text))):
        openings = [tag.start() for tag in tags if tag.group(1)]
        text = _drop_nested(text, openings, [tag.end() for tag in tags if not tag.group(1)])
    return text


def _at_line_starts(text: str, mark: str, brace: str, indent: str) -> Iterator[tuple[int, int]]:
    """Yields (start, end) of each two-character mark that only characters of `indent` precede on its line.

    It searches for the brace, the rarer of the two: one character is found many times faster than two.
    """
    before = 0
    position = text.find(brace)
    while position >= 0:
        start = position - mark.index(brace)
        if text.startswith(mark, start):
            line = text.rfind("\n", before, start) + 1
            if (line or not before) and not text[line:start].strip(indent):
                yield start, start + 2
            before = start + 2
        position = text.find(brace, position + 1)


def _drop_nested(text: str, openings: list[int], closings: list[int]) -> str:
    """Removes the regions between opening tokens and the ends of the tokens that close them."""
    regions: list[tuple[int, int]] = []
    opened: list[int] = []
    tokens = [(end, False) for end in closings] + [(start, True) for start in openings]
    for position, opens in sorted(tokens):  # at the same place, closings first
        if opens:
            opened.append(position)
        elif opened:
            _add_region(regions, opened.pop(), position)
    stop = 0
    for start in opened:
        if start >= stop:
            stop = _HEADING_OR_END.search(text, start).start()
            regions.append((start, stop))
    return _without(text, regions)


def drop_media(text: str, shows_nothing: Callable[[str, str], bool]) -> str:
    """Removes links to files and categories with their captions; removes an unclosed one to the end of its line."""
    starts = [match.start() for match in _PREFIXED_LINK.finditer(text) if shows_nothing(*match.groups())]
    regions: list[tuple[int, int]] = []
    position = 0
    for start in starts:
        if start >= position:
            end = _link_end(text, start)
            if not end:  # never closed, like the openings before the next closed one: all are read at once
                return _without(text, regions + _media_regions(text, start, set(starts)))
            regions.append((start, end))
            position = end
    return _without(text, regions) if regions else text


def _link_end(text: str, start: int) -> int:
    """End of the link that opens at `start`, with the links inside it; 0 if it is not closed."""
    depth = 0
    for match in _LINK_TOKEN.finditer(text, start):
        depth += 1 if match.group() == "[[" else -1
        if not depth:
            return match.end()
    return 0


def _media_regions(text: str, first: int, starts: set[int]) -> list[tuple[int, int]]:
    """Regions of the links that open at `starts`, from `first` on, whether they are closed or not."""
    regions: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in _LINK_TOKEN.finditer(text, first):
        if match.group() == "[[":
            opened.append(match.start())
        elif opened and (start := opened.pop()) in starts:
            _add_region(regions, start, match.end())
    return regions + _to_line_ends(text, [start for start in opened if start in starts])


def drop_tags(text: str, language: str) -> str:
    """Removes HTML tags, magic words, URLs of links, and the language variants that the site does not show."""
    if "<" in text:
        plain = replaced(_SHORT_TAG, _shown_of_tag, text)
        text = plain if "<" not in plain else _TORN_TAG.sub("", _without_tags(text))
    if "{" in text and "-{" in text:
        for _ in range(4):  # the innermost first
            text = _VARIANTS.sub(lambda match: extensions.shown(match.group(1), language), text)
    if "__" in text:
        text = _MAGIC_WORD.sub(_shown_of_word, text)
    return _EXTERNAL.sub(r"\1", text) if "[" in text else text


def _without_tags(text: str) -> str:
    for pattern, shown in _TAGS:
        text = pattern.sub(shown, text)
    return text


_shown_of_tag = lru_cache(maxsize=1 << 12)(_without_tags)  # few distinct ones


def drop_marks(text: str, spans: list[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Removes marks and tags that arise when references, quotes or links are resolved; shifts the spans accordingly.

    Few paragraphs have any: they are on pages about markup, which show how to write it.
    """
    for _ in range(3):  # a removal may form new markup; deeper nesting is not text
        if not _FIRST_MARK.search(text):
            break
        marks = [match.span() for match in _MARK.finditer(text)]
        if not marks:
            break
        text = _without(text, marks)
        starts = _moved([start for start, _ in spans], marks)
        ends = _moved([end for _, end in spans], marks)
        spans = [_trimmed(text, start, end) for start, end in zip(starts, ends, strict=True)]
    return text.rstrip(), spans


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    start = end - len(text[start:end].lstrip())
    return start, start + len(text[start:end].rstrip())


def _moved(positions: list[int], removed: list[tuple[int, int]]) -> list[int]:
    """New positions after the removal of some ranges, which must ascend."""
    starts = [start for start, _ in removed]
    removed_length = [0, *accumulate(end - start for start, end in removed)]
    moved = []
    for position in positions:
        at = bisect_left(starts, position)  # number of removals that begin before it; the last may extend beyond it
        inside = max(removed[at - 1][1] - position, 0) if at else 0
        moved.append(position - removed_length[at] + inside)
    return moved


def _shown_of_word(match: re.Match[str]) -> str:
    """Replacement for a word between underscores: "" for a magic word; any other, such as `__init__`, stays."""
    word = match.group(1)
    if not word.isascii():
        return match.group() if any(map(str.islower, word)) else ""
    return "" if word in _UPPER_CASE.split() or word.lower() in _ANY_CASE.split() else match.group()


def _add_region(regions: list[tuple[int, int]], start: int, end: int) -> None:
    """Adds a region that ends after all others; it replaces the regions inside it."""
    while regions and regions[-1][0] >= start:
        regions.pop()
    regions.append((start, end))


def _to_line_ends(text: str, starts: list[int]) -> list[tuple[int, int]]:
    """Regions from each start, ascending, to the end of its line."""
    regions: list[tuple[int, int]] = []
    for start in starts:
        if not regions or start >= regions[-1][1]:
            stop = text.find("\n", start)
            regions.append((start, len(text) if stop < 0 else stop))
    return regions


def _without(text: str, regions: list[tuple[int, int]]) -> str:
    """Removes the regions, which may overlap, from the text."""
    pieces, position = [], 0
    for start, end in sorted(regions):
        if start > position:
            pieces.append(text[position:start])
        position = max(position, end)
    return "".join([*pieces, text[position:]])
