"""Convert text with links to plain text and the spans of its links.

All paragraphs of a page are parsed at once, in half the time of parsing them one by one. The few paragraphs with
character references or broken markup are parsed on their own, with more care.
"""

import re
from collections.abc import Iterator, Sequence

from stele.corpora.wikitext import markup
from stele.corpora.wikitext.extensions import decode
from stele.corpora.wikitext.titles import UNKNOWN, Site

Span = tuple[int, int, str]  # characters [start, end) link to the article

# [[target]] or [[target|label]]; a label may hold single brackets, and end with one: [[a|[b]]]
_LINK = re.compile(
    r"\[\[([^\[\]|{}<>\n]++)"
    r"(?:\]\]|\|([^\[\]\n]*+(?:(?:\[(?!\[)|\](?!\]))[^\[\]\n]*+)*+(?:\](?=\]\](?!\])))?)\]\])"
)
_TORN_LINK = re.compile(r"\[\[(?=[^\[\]|{}<>\n]*\n)")  # a target stands on one line
_BROKEN_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)*|\]\]")
# what removed templates leave behind: a space before a full stop, ", ,"
_GAP = re.compile(r" (?:\)|,(?: ?,)*(?=\s|$)|\.(?=\s|$))")
_PIPE_TRICK = re.compile(r"^[^:]*:|, .*$| ?[(（][^()（）]*[)）]$")
_BLANKS = re.compile(r"   *")
_SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace() and chr(code) not in "\n "]


def read(raws: Sequence[str], site: Site) -> Iterator[tuple[str, int, list[Span]]]:
    """Yields (text, offset, links) for each paragraph: resolves links, decodes references, normalises spaces. A link
    (start, end, target), in order, covers the characters [start - offset, end - offset) of the text.

    >>> list(read(["[[Rome|Roma]] &amp; [[it:Roma]] [[italy]]", "plain", "[[Rome]]"], Site()))
    [('Roma & italy', 0, [(0, 4, 'Rome'), (7, 12, 'Italy')]), ('plain', 1, []), ('Rome', 7, [(7, 11, 'Rome')])]
    """
    text = _tidied(raws)
    tidy = text.split("\n")
    odd: set[int] = set()
    if _has_signs(text):
        odd = {number for number, line in enumerate(tidy) if _has_signs(line)}
        text = "\n".join(["" if number in odd else line for number, line in enumerate(tidy)])
    text, links = _linked(text, site, odd=False)
    lines = text.split("\n")
    if _is_broken(text):
        odd |= {number for number, line in enumerate(lines) if _is_broken(line)}
    offset = at = 0
    for number, line in enumerate(lines):
        end, first = offset + len(line), at
        while at < len(links) and links[at][0] < end:
            at += 1
        if number in odd:
            yield _read_odd(tidy[number], site)
        else:
            yield line.rstrip(), offset, links[first:at]
        offset = end + 1


def _tidied(raws: Sequence[str]) -> str:
    """Joins the paragraphs, one on each line, without white space at their ends; turns other white space into single
    spaces and closes the gaps that removed templates leave.
    """
    text = "\n".join([_one_line(raw) if "\n" in raw else raw for raw in raws])
    for space in _SPACES:
        if space in text:
            text = text.replace(space, " ")
    text = _BLANKS.sub(" ", text)
    return _GAP.sub(_closed_gap, text)


def _one_line(raw: str) -> str:
    return _TORN_LINK.sub("", raw).replace("\n", " ").strip()


def _has_signs(text: str) -> bool:
    """Whether a text may have character references or markup that was not parsed, other than broken links."""
    return "&" in text or "<" in text or ">" in text or "{" in text or "}" in text


def _is_broken(text: str) -> bool:
    """Whether a text without complete links still has parts of a link."""
    return ("[" in text and "[[" in text) or ("]" in text and "]]" in text)


def _read_odd(line: str, site: Site) -> tuple[str, int, list[Span]]:
    """Parses one tidy paragraph with references or broken markup, to the same result as `read`."""
    text, links = _linked(line, site, odd=True)
    text, spans = markup.drop_marks(text.rstrip(), [link[:2] for link in links])
    moved = zip(spans, links, strict=True)
    return text, 0, [(start, end, link[2]) for (start, end), link in moved if start < end]


def _closed_gap(match: re.Match[str]) -> str:
    """Punctuation that replaces a gap: the sign after it, once; "" if it is a comma after another comma."""
    sign = match.group()[1]
    return "" if sign == "," and match.string[match.start() - 1 : match.start()] == "," else sign


def _linked(raw: str, site: Site, odd: bool) -> tuple[str, list[Span]]:
    """Parses tidy lines into (text, links). `odd` text is one line with broken links or character references."""
    parts = _LINK.split(raw)
    pieces: list[str] = []
    links: list[Span] = []
    length, spaced = 0, True  # spaced: the text so far is empty or ends in white space
    resolved = map(site.resolve, parts[1::3])
    for between, (name, article), label in zip(parts[0::3], resolved, parts[2::3], strict=False):
        if odd:
            between = _plain(between)
        if spaced and between[:1] == " ":
            between = between[1:]
        if between:
            pieces.append(between)
            length += len(between)
            spaced = between[-1] <= " "
        if name and label is None:
            shown = name
        elif name and label and label != " ":
            shown = label
        else:  # an empty label shows the target's name, shortened (MediaWiki's "pipe trick")
            shown = _PIPE_TRICK.sub("", name or "") or name or ""
        if odd:
            shown = _plain(shown)
        bare = shown.strip()
        if bare is shown and bare and bare[-1] != "]":  # the usual case
            end = length + len(bare)
            if article:
                links.append((length, end, article))
            pieces.append(bare)
            length, spaced = end, False
            continue
        if not bare:
            continue
        if shown[0] == " " and not spaced:
            pieces.append(" ")
            length += 1
        rest = " " if shown[-1] == " " else ""
        if bare[-1] == "]" and "[" not in bare:  # [[a|b]]]: the third bracket is text
            bare, rest = bare[:-1], "]" + rest
        end = length + len(bare)
        if article and end > length:
            links.append((length, end, article))
        pieces += (bare, rest)
        length = end + len(rest)
        spaced = rest[-1:] == " "
    last = _plain(parts[-1]) if odd else parts[-1]
    pieces.append(last[1:] if spaced and last[:1] == " " else last)
    return "".join(pieces), links


def _plain(raw: str) -> str:
    """Cleans tidy text without complete links: removes rests of broken links, decodes references, and turns white
    space into single spaces.
    """
    if "&" not in raw and UNKNOWN not in raw and "[[" not in raw and "]]" not in raw:
        return raw
    if UNKNOWN in raw:
        raw = raw.replace(UNKNOWN, "")
    if "[[" in raw or "]]" in raw:
        raw = _BROKEN_LINK.sub("", raw)
    if "&" in raw:
        raw = decode(raw)
    if not raw or raw.isspace():
        return " " if raw else ""
    tidy = " ".join(raw.split())
    return f"{' ' if raw[0].isspace() else ''}{tidy}{' ' if raw[-1].isspace() else ''}"
