"""The layers of wikitext that vanish: comments, extension tags, templates, tables, files, HTML tags, magic words.

Each layer is one linear pass, whatever the nesting; what is opened and never closed costs no more than what is closed.
The order is MediaWiki's: comments and extension tags first (nothing inside them is markup), then braces, then tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from stele.corpora.entities import escape

# extension tags whose content is no running text
_DROPPED = (
    "ref|references|gallery|math|chem|ce|timeline|score|hiero|source|syntaxhighlight|pre|imagemap|inputbox|graph|mapframe|maplink"
    "|templatestyles|templatedata|indicator|includeonly|categorytree|dynamicpagelist|charinsert|quiz|rss|mapsources|section"
)
_OPENING = re.compile(rf"<!--|<(nowiki|{_DROPPED})(?=[\s/>])([^<>]*)>", re.I)
_BRACES = re.compile(r"\{\{+|\}\}+")
_TABLE = re.compile(r"^[ \t:*#;]*(\{\|)|^[ \t]*\|\}", re.M)
_HTML_TABLE = re.compile(r"<(table)\b[^<>]*>|</table\s*>", re.I)
_HEADING_OR_END = re.compile(r"^=[^\n]+=[ \t]*$|\Z", re.M)
_BLOCK_TAG = re.compile(
    r"</?(?:p|div|li|ul|ol|dl|dt|dd|h[1-6]|blockquote|center|poem|hr|tr|td|th|caption|tbody|thead|form)"
    r"(?:\s[^<>]*)?/?>",
    re.I,
)
_BREAK = re.compile(r"<\s*/?\s*br\b[^<>]*>", re.I)
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd|mark|nobr|q|rb|rp|rt|rtc|ruby|s|samp|small|span"
    r"|strike|strong|sub|sup|time|tt|u|var|wbr|table|col|colgroup|tfoot|translate|tvar|languages|abstract|button|input|label"
    rf"|option|select|textarea|center|includeonly|noinclude|onlyinclude|nowiki|poem|{_DROPPED})(?:\s[^<>]*)?/?>",
    re.I,
)
_VARIANTS = re.compile(r"-\{([^{}]*)\}-")
_MAGIC_WORD = re.compile(r"__(?:(?![a-z])\w)+?__")
_EXTERNAL = re.compile(
    r"\[(?:(?:https?|ftps?|git|gopher|ircs?|news|nntp|sftp|ssh|svn|telnet|worldwind)://|//|mailto:|news:|tel:|urn:|geo:|xmpp:)"
    r"[^\s\[\]<>\"]*[^\S\n]*((?:[^\[\]\n]++|\[\[[^\[\]\n]*+\]\]|\[[^\[\]\n]*+\])*+)\]",
    re.I,
)
_PREFIXED_LINK = re.compile(r"\[\[([^\[\]|{}<>\n:]+):([^\[\]|{}<>\n]+)")
_LINK_TOKEN = re.compile(r"\[\[|\]\]")


def drop_extensions(text: str) -> str:
    """Without comments and extension tags; `nowiki` content stays as text that no later layer takes for markup."""
    pieces: list[str] = []
    done = position = 0
    absent: set[str] = set()  # closing tags of which no more come
    while match := _OPENING.search(text, position):
        start, position = match.span()
        name = (match.group(1) or "").lower()
        replacement = ""
        if not name:
            position = text.find("-->", position)
            position = len(text) if position < 0 else position + 3
            if text[start - 1 : start] in ("", "\n") and text[position : position + 1] == "\n":
                position += 1  # a line with nothing but a comment is no line
        elif not match.group(2).endswith("/"):
            closing = None if name in absent else re.compile(rf"</{name}\s*>", re.I).search(text, position)
            if closing is None:
                absent.add(name)  # an unclosed tag is dropped, what follows it stays
            else:
                if name == "nowiki":
                    replacement = escape(text[position : closing.start()])
                position = closing.end()
        pieces += (text[done:start], replacement)
        done = position
    return "".join([*pieces, text[done:]]) if pieces else text


def drop_templates(text: str) -> str:
    """Without `{{...}}` and `{{{...}}}`, nested or not; an unclosed one is dropped to the end of its line."""
    if "{{" not in text and "}}" not in text:
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
    """Without `{| ... |}` and `<table>`, nested or not; an unclosed one is dropped up to the next heading."""
    if "{|" in text:
        text = _drop_nested(text, _TABLE)
    return _drop_nested(text, _HTML_TABLE) if _HTML_TABLE.search(text) else text


def _drop_nested(text: str, token: re.Pattern[str]) -> str:
    """Without the regions between opening tokens (group 1 matched) and their closing tokens."""
    regions: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in token.finditer(text):
        if match.group(1):
            opened.append(match.start())
        elif opened:
            _add_region(regions, opened.pop(), match.end())
    stop = 0
    for start in opened:
        if start >= stop:
            stop = _HEADING_OR_END.search(text, start).start()
            regions.append((start, stop))
    return _without(text, regions)


def drop_media(text: str, shows_nothing: Callable[[str, str], bool]) -> str:
    """Without links to files and categories and their captions; an unclosed one is dropped to the end of its line."""
    starts = {match.start() for match in _PREFIXED_LINK.finditer(text) if shows_nothing(*match.groups())}
    if not starts:
        return text
    regions: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in _LINK_TOKEN.finditer(text):
        if match.group() == "[[":
            opened.append(match.start())
        elif opened and (start := opened.pop()) in starts:
            _add_region(regions, start, match.end())
    return _without(text, regions + _to_line_ends(text, [start for start in opened if start in starts]))


def drop_tags(text: str) -> str:
    """Without HTML tags, language variants (the first stays), magic words and the addresses of external links."""
    if "<" in text:
        text = _BREAK.sub(" ", text)
        text = _BLOCK_TAG.sub("\n\n", text)
        text = _INLINE_TAG.sub("", text)
    if "-{" in text:
        text = _VARIANTS.sub(_first_variant, _VARIANTS.sub(_first_variant, text))
    if "__" in text:
        text = _MAGIC_WORD.sub("", text)
    return _EXTERNAL.sub(r"\1", text) if "[" in text else text


def _first_variant(match: re.Match[str]) -> str:
    """What a language-variant block shows in its first variant: `-{zh-hans:A;zh-hant:B}-` is A; rules show nothing."""
    flags, bar, content = match.group(1).rpartition("|")
    if bar and set(flags.upper()) & set("THD-"):
        return ""
    first, colon, shown = content.partition(":")
    return (
        shown.partition(";")[0].strip()
        if colon and re.fullmatch(r"\s*zh[a-z-]*|\s*[a-z]{2,3}(?:-[a-z]+)*", first)
        else content
    )


def _add_region(regions: list[tuple[int, int]], start: int, end: int) -> None:
    """Adds a region that ends last; regions inside it are taken over by it."""
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
    """The text outside the regions; they may overlap."""
    pieces, position = [], 0
    for start, end in sorted(regions):
        if start > position:
            pieces.append(text[position:start])
        position = max(position, end)
    return "".join([*pieces, text[position:]])
