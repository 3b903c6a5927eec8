"""Convert wikitext to paragraphs of plain text, links with character spans, and section titles.

First all markup without text of its own is removed, layer by layer (`extensions.py`, `markup.py`). The rest is parsed
line by line into headings, list items and paragraphs. Links are resolved last (`inline.py`), when the text around them
is final, so that their spans are exact.
Templates are not expanded, so the text lacks their output. Files, categories and links to other languages show nothing;
links to other namespaces and projects keep their text but do not count as links.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from stele.corpora.wikitext import inline, markup
from stele.corpora.wikitext.extensions import drop_extensions
from stele.corpora.wikitext.titles import MEDIA_TYPES, UNKNOWN, Site
from stele.errors import SteleError

LONGEST = 8 << 20  # characters; a page of this length with only links takes some 200 MB
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_HEADING = re.compile(r"(={1,6})(.+?)\1\s*$")
_QUOTES = re.compile(r"('{2,})")
_MARKED_LINE = frozenset("=*#:;|!-")  # first characters of lines that may be more than text
# a line of a gallery whose tag is missing or misspelt, or of a file's link with brackets missing
_GALLERY_LINE = re.compile(rf"[*#:;]*+\s*+\[?[^\s:|\[\]]+:[^|:\[\]]*\.(?:{MEDIA_TYPES})[ \t]*\|", re.I)
_BLANK = r"(?:[^\S\n]|\n(?=\w)|&nbsp;)"  # white space within a paragraph
# what removed templates leave behind: "( )", "(; born 1900)"
_EMPTY_BRACKETS = re.compile(
    rf"\((?:\s*(?:(?:[,;:/،؛、，；]|&nbsp;|''+)\s*)*+\)|{_BLANK}*+[,;،؛，；](?:[,;،؛，；]|{_BLANK})*| +)"
)
_EMPTY_WIDE_BRACKETS = re.compile(rf"（(?:\s*(?:[,;:/、，；]\s*)*+）|{_BLANK}*+[,;、，；](?:[,;、，；]|{_BLANK})*)")
_TEMPLATE_IN_TARGET = re.compile(r"(\[\[[^\[\]|{}\n]*+)\{\{")
_TEMPLATE_IN_QUOTES = re.compile(rf"('{{2,5}}){UNKNOWN}\1(?!')|(?<=''){UNKNOWN}")  # also before other text
_SEMICOLONS = re.compile(r"&#?\w+;|;(?: +;)+( *\))?")  # "; ;" and "; ;)", but not after a reference
_SEMICOLON_PAIR = re.compile("; ;")
_FRAGMENTS = re.compile(r"\{\||\|\}|\{\{+|\}\}+")

# the references that most pages have, none of them markup: a paragraph without any others is read faster
_CHARACTERS = {"nbsp": " ", "ndash": "–", "mdash": "—", "minus": "−", "thinsp": " "}
_COMMON_REFERENCE = re.compile(f"&({'|'.join(_CHARACTERS)});")


class PageLink(NamedTuple):
    """A link from the characters [start, end) of a paragraph to the article `target`."""

    paragraph: int
    start: int
    end: int
    target: str


@dataclass(slots=True)
class PageText:
    """Text of a page: its paragraphs, its links in reading order, and (title, first paragraph) of each section.

    The title is "" where the section's heading shows nothing but removed markup, such as a template.
    """

    paragraphs: list[str] = field(default_factory=list)
    links: list[PageLink] = field(default_factory=list)
    sections: list[tuple[str, int]] = field(default_factory=list)


def extract(wikitext: str, site: Site) -> PageText:
    """Extracts paragraphs, links and sections of one page, in linear time for any markup.

    Raises SteleError for a page of more than LONGEST characters.

    >>> page = extract("'''Rome''' is in [[Italy]].<ref>x</ref>\\n== Names ==\\n* {{x}}[[Roma (city)|Roma]]s", Site())
    >>> page.paragraphs, page.sections
    (['Rome is in Italy.', 'Romas'], [('Names', 1)])
    >>> [tuple(link) for link in page.links]
    [(0, 11, 16, 'Italy'), (1, 0, 4, 'Roma (city)')]
    """
    if len(wikitext) > LONGEST:
        raise SteleError(
            f"found {len(wikitext):,} characters of wikitext; want at most {LONGEST:,} (MediaWiki saves at most 2 MiB)"
        )
    page = PageText()
    headings: list[str] = []
    blocks = list(_blocks(_reduce(wikitext, site)))
    if not blocks:
        return page
    texts = inline.read([raw for _, raw in blocks], site)
    for (is_heading, _), (text, offset, links) in zip(blocks, texts, strict=True):
        if is_heading:
            headings.append(text if text.strip("=") else "")  # ==={{s|19}}=== leaves only signs
        elif _LETTER_OR_DIGIT.search(text):
            number = len(page.paragraphs)
            if headings:
                page.sections += [(title, number) for title in headings]
                headings = []
            page.paragraphs.append(text)
            if links:
                spans = [(number, start - offset, end - offset, target) for start, end, target in links]
                page.links += map(PageLink._make, spans)  # twice as fast as calls
    return page


def _reduce(text: str, site: Site) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "<" in text:
        text = drop_extensions(text)
    if "&" in text:
        text = _COMMON_REFERENCE.sub(lambda match: _CHARACTERS[match.group(1)], text)
    if "{{" in text:
        text = _TEMPLATE_IN_TARGET.sub(rf"\1{UNKNOWN}{{{{", text).replace("''{{", f"''{UNKNOWN}{{{{")
    text = markup.drop_templates(text)
    if f"''{UNKNOWN}" in text:  # ''{{x}}'' would leave four apostrophes: bold text and an apostrophe
        text = _TEMPLATE_IN_QUOTES.sub("", text)
    text = markup.drop_tables(text)
    text = markup.drop_tags(text, site.language)
    text = markup.drop_media(text, site.shows_nothing)
    if "{" in text or "}" in text:
        text = _FRAGMENTS.sub("", text)
    if ";" in text and _SEMICOLON_PAIR.search(text):
        text = _SEMICOLONS.sub(_kept_semicolon, text)
    text = _EMPTY_BRACKETS.sub(_kept_bracket, text)
    return _EMPTY_WIDE_BRACKETS.sub(_kept_bracket, text) if "（" in text else text


def _kept_bracket(match: re.Match[str]) -> str:
    """Opening bracket that stays; "" if there was nothing between it and the closing one."""
    brackets = match.group()
    return "" if brackets[-1] in ")）" else brackets[0]


def _kept_semicolon(match: re.Match[str]) -> str:
    return match.group() if match.group()[0] == "&" else match.group(1) or ";"


def _blocks(text: str):
    """Yields (whether it is a heading, raw text) of headings, single list items, and paragraphs of joined lines."""
    paragraph: list[str] = []
    for line in map(str.strip, text.split("\n")):
        first = line[:1]
        if "|" in line and "[[" not in line and _GALLERY_LINE.match(line):
            continue
        if line and (first not in _MARKED_LINE or _is_plain(line)):
            paragraph.append(_unquote(line).strip() if "'" in line and "''" in line else line)
            continue
        if paragraph:
            yield False, "\n".join(paragraph)
            paragraph = []
        if first == "=":
            yield True, _unquote(_HEADING.match(line).group(2)).strip()
        elif first and first in "*#:;":
            yield False, _unquote(line.lstrip("*#:; ")).strip()
        elif first == "-" and line.strip("-"):
            paragraph = [_unquote(line.lstrip("-")).strip()]
    if paragraph:
        yield False, "\n".join(paragraph)


def _is_plain(line: str) -> bool:
    """Whether a line is text although it begins like a heading, a horizontal rule or a table cell."""
    first = line[:1]
    if first == "=":
        return _HEADING.match(line) is None
    return (first == "-" and line[:4] != "----") or (first == "!" and "|" not in re.sub(r"\[\[[^\[\]]*+\]\]", "", line))


def _unquote(line: str) -> str:
    """Removes bold and italic marks as MediaWiki does (a lone ''' after a letter is an apostrophe and italics).

    >>> _unquote("dans l'''Odyssée''"), _unquote("'''''a'' b'''"), _unquote("''''a''''")
    ("dans l'Odyssée", 'a b', "'a'")
    """
    if "'''" not in line:
        return line.replace("''", "")
    if "''''" not in line:
        bold = line.count("'''")
        if bold % 2 == 0 or (line.count("''") - bold) % 2 == 0:  # no apostrophe among them
            return line.replace("'''", "").replace("''", "")
    parts = _QUOTES.split(line)
    bold = italic = 0
    for i in range(1, len(parts), 2):
        length = len(parts[i])
        if length == 4 or length > 5:  # surplus apostrophes are text
            surplus = 1 if length == 4 else length - 5
            parts[i - 1] += "'" * surplus
            length -= surplus
            parts[i] = "'" * length
        bold += length in (3, 5)
        italic += length in (2, 5)
    if bold % 2 and italic % 2:
        chosen = _apostrophe(parts)
        if chosen:
            parts[chosen - 1] += "'"
    return "".join(parts[::2])


def _apostrophe(parts: list[str]) -> int:
    """Index of the ''' that is an apostrophe (0: none); prefers one after a one-letter word, a longer one, a space."""
    word = space = 0
    for i in range(1, len(parts), 2):
        if len(parts[i]) != 3:
            continue
        before = parts[i - 1]
        if before[-1:] == " ":
            space = space or i
        elif before[-2:-1] == " ":
            return i
        else:
            word = word or i
    return word or space
