"""Wikitext to paragraphs of plain text, their links with character spans, and section titles.

What vanishes goes first, layer by layer (`stele.corpora.markup`); what is left is read line by line: headings, list
items, paragraphs; links are resolved last, when the text around them is final, so that their spans are exact.
Templates are not expanded: what a template would print is not in the text. Files, categories and links to other
languages show nothing; links to other namespaces and projects keep their text and are no links.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from stele.corpora import markup
from stele.corpora.entities import decode
from stele.corpora.titles import CATEGORY, FILE, MAIN, Site

_HEADING = re.compile(r"(={1,6})(.+?)\1\s*$")
_QUOTES = re.compile(r"('{2,})")
# [[target]] or [[target|label]]; a label may hold single brackets
_LINK = re.compile(r"\[\[([^\[\]|{}<>\n]+)(?:\|([^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+))?+\]\]")
_BROKEN_LINK = re.compile(r"\[\[(?:[^\[\]|\n]*\|)*|\]\]")
# what removed templates leave behind: "( )", "(; born 1900)", a space before a full stop
_EMPTY_BRACKETS = re.compile(r"[(（]\s*(?:(?:[,;:/،؛、，；]|&nbsp;)\s*)*[)）]")
_BRACKET_START = re.compile(r"([(（])\s*(?:[,;،؛，；]\s*)+")
_SPACE_BEFORE = re.compile(r" (?<![ \t] )[ \t]*([,.)])(?=\s|$)")
_FRAGMENTS = re.compile(r"\{\||\|\}|\{\{+|\}\}+")


class PageLink(NamedTuple):
    """Characters [start, end) of a paragraph link to the article `target`."""

    paragraph: int
    start: int
    end: int
    target: str


@dataclass(slots=True)
class PageText:
    """The text of a page: paragraphs, links in reading order, (title, first paragraph) of sections."""

    paragraphs: list[str] = field(default_factory=list)
    links: list[PageLink] = field(default_factory=list)
    sections: list[tuple[str, int]] = field(default_factory=list)


def extract(wikitext: str, site: Site) -> PageText:
    """Paragraphs, links and sections of one page; never raises for odd markup, takes linear time.

    >>> page = extract("'''Rome''' is in [[Italy]].<ref>x</ref>\\n== Names ==\\n* {{x}}[[Roma (city)|Roma]]s", Site())
    >>> page.paragraphs, page.sections
    (['Rome is in Italy.', 'Romas'], [('Names', 1)])
    >>> [tuple(link) for link in page.links]
    [(0, 11, 16, 'Italy'), (1, 0, 4, 'Roma (city)')]
    """
    page = PageText()
    headings: list[str] = []
    for kind, raw in _blocks(_reduce(wikitext, site)):
        if kind == "heading":
            headings.append(_inline(raw, site)[0])
            continue
        text, links = _inline(raw, site)
        if not any(map(str.isalnum, text)):
            continue
        number = len(page.paragraphs)
        page.sections += [(title, number) for title in headings if title]
        headings = []
        page.paragraphs.append(text)
        page.links += [PageLink(number, *link) for link in links]
    return page


def _reduce(text: str, site: Site) -> str:
    """The text without everything that shows no text of its own."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "<" in text:
        text = markup.drop_extensions(text)
    text = markup.drop_templates(text)
    text = markup.drop_tables(text)
    text = markup.drop_tags(text)
    text = markup.drop_media(text, site.shows_nothing)
    text = _BRACKET_START.sub(r"\1", _EMPTY_BRACKETS.sub("", text))
    return _SPACE_BEFORE.sub(r"\1", text)


def _blocks(text: str):
    """("heading" or "text", raw) in order: headings, list items one by one, paragraphs of joined lines."""
    paragraph: list[str] = []
    for line in text.split("\n"):
        line = line.strip()
        first = line[:1]
        heading = _HEADING.match(line) if first == "=" else None
        plain = (
            line and not heading and first not in "*#:;|" and not (first == "!" and "|" in line) and line[:4] != "----"
        )
        if plain:
            paragraph.append(_unquote(line) if "''" in line else line)
            continue
        if paragraph:
            yield "text", "\n".join(paragraph)
            paragraph = []
        if heading:
            yield "heading", _unquote(heading.group(2))
        elif first and first in "*#:;":
            yield "text", _unquote(line.lstrip("*#:; "))
        elif line[:4] == "----":
            paragraph = [line.lstrip("-")] if line.strip("-") else []
    if paragraph:
        yield "text", "\n".join(paragraph)


def _unquote(line: str) -> str:
    """Without bold and italic marks, read as MediaWiki does (a lone ''' after a letter is an apostrophe and italics).

    >>> _unquote("dans l'''Odyssée''"), _unquote("'''''a'' b'''"), _unquote("''''a''''")
    ("dans l'Odyssée", 'a b', "'a'")
    """
    parts = _QUOTES.split(line)
    if len(parts) == 1:
        return line
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
    """Which of the ''' is an apostrophe before italics (0: none): after a one-letter word, a longer one, a space."""
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


def _inline(raw: str, site: Site) -> tuple[str, list[tuple[int, int, str]]]:
    """(text, [(start, end, target)]) of a paragraph: links resolved, character references decoded, spaces tidied."""
    if "[[" not in raw:
        return _plain(raw).strip(), []
    pieces: list[str] = []
    links = []
    length = position = 0
    for match in _LINK.finditer(raw):
        length += _add(pieces, _plain(raw[position : match.start()]))
        position = match.end()
        label, target = _resolve(match.group(1), match.group(2), site)
        label = _plain(label)
        shown = label.strip()
        if not shown:
            continue
        length += _add(pieces, " " if label[0] == " " else "")
        if target:
            links.append((length, length + len(shown), target))
        length += _add(pieces, shown) + _add(pieces, " " if label[-1] == " " else "")
    _add(pieces, _plain(raw[position:]))
    return "".join(pieces).rstrip(), links


def _add(pieces: list[str], more: str) -> int:
    """Adds a stretch, two spaces never meeting and none at the start; returns how many characters were added."""
    if more[:1] == " " and (not pieces or pieces[-1][-1] == " "):
        more = more[1:]
    if more:
        pieces.append(more)
    return len(more)


def _resolve(target: str, label: str | None, site: Site) -> tuple[str, str]:
    """(shown text, article linked to or "") of a link."""
    stripped = target.strip(" _\u200e\u200f")
    colon = stripped.startswith(":")
    name = stripped[1:] if colon else stripped
    namespace, rest = site.prefix(decode(name)) if ":" in name or "&" in name else (MAIN, name)
    if not colon and (namespace in (FILE, CATEGORY) or (namespace is None and rest == "lang")):
        return "", ""
    shown = label if label is not None and label.strip() else (name if colon else target)
    return shown, site.normalise(name) if namespace == MAIN else ""


def _plain(raw: str) -> str:
    """A stretch without whole links: the rest of broken ones goes, references are decoded, white space is one space."""
    if "[[" in raw or "]]" in raw:
        raw = _BROKEN_LINK.sub("", raw)
    if "{" in raw or "}" in raw:
        raw = _FRAGMENTS.sub("", raw)
    if "&" in raw:
        raw = decode(raw)
    if not raw or raw.isspace():
        return " " if raw else ""
    tidy = " ".join(raw.split())
    return f"{' ' if raw[0].isspace() else ''}{tidy}{' ' if raw[-1].isspace() else ''}"
