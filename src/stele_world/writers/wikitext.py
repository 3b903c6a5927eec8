"""An article of the world as wikitext, with what real pages have around their text: templates, infoboxes, references,
tables, thumbnails with links in their captions, comments, entities, categories, links of every written form.

The running text is the article's sentences and nothing else: a reader that strips the markup gets them back (a blank
may come back as a no-break space).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from xml.sax.saxutils import escape

from stele_world.content.draws import Draws
from stele_world.content.model import Article, Link, Sentence
from stele_world.writers.namespaces import Names

MAINTENANCE = "Maintenance"  # a category that every page is in


class Titles(NamedTuple):
    """Page titles of a language: entity -> title of its page, and entity -> titles of redirects to it."""

    pages: Mapping[str, str]
    redirects: Mapping[str, tuple[str, ...]]


def link(title: str, surface: str, draws: Draws, redirects: tuple[str, ...] = ()) -> str:
    """Wikitext of a link to `title` that shows `surface`.

    Draws among [[Title]] (letters that follow it are its trail), [[title]], [[Title|surface]], [[title|surface]],
    [[Some_title|surface]], [[Title#section|surface]], [[ Title |surface]] and [[Redirect|surface]].
    """
    if redirects and draws.chance(0.2):
        target = draws.pick(redirects)
        return f"[[{target}]]" if target == surface else f"[[{target}|{surface}]]"
    small = title if title[:1] in ("I", "İ") else title[:1].lower() + title[1:]  # in Turkish, i is no small I
    if surface in (title, small) and draws.chance(0.9):
        return f"[[{surface}]]"
    forms = (title, title, title, small, title.replace(" ", "_"), f"{title}#{draws.between(1, 3)}", f" {title} ")
    return f"[[{draws.pick(forms)}|{surface}]]"


def sentence_text(sentence: Sentence, titles: Titles, draws: Draws, bold: str = "") -> str:
    """A sentence with its links; the first unlinked occurrence of the title `bold` in it is set bold."""
    pieces: list[str] = []
    done, plain = 0, ""
    for span in _linkable(sentence, titles):
        plain, bold = _plain(sentence.text[done : span.start], bold)
        surface = sentence.text[span.start : span.end]
        redirects = titles.redirects.get(span.entity, ())
        pieces += [plain, link(titles.pages[span.entity], surface, draws, redirects)]
        done = span.end
    pieces.append(_plain(sentence.text[done:], bold)[0])
    text = "".join(pieces)
    return re.sub(r" (?=\d)", "&nbsp;", text, count=1) if draws.chance(0.05) else text


def _linkable(sentence: Sentence, titles: Titles) -> list[Link]:
    return [span for span in sentence.links if span.entity in titles.pages]


def _plain(text: str, bold: str) -> tuple[str, str]:
    """(unlinked text with its entities written out and `bold` set so, what is still to be set bold)."""
    before, match, after = text.partition(bold) if bold else (text, "", "")
    if not match:
        return escape(text), bold
    return f"{escape(before)}'''{escape(bold)}'''{escape(after)}", ""


def reference(draws: Draws) -> str:
    """A footnote, in one of the ways in which pages write them; it is no part of the running text."""
    number = draws.integer(900)
    return draws.pick(
        (
            f'<ref name="r{number}">{{{{cite web |url=https://example.org/?a={number}&b=2 |title={number}}}}}</ref>',
            f"<ref>''Annals'', vol. {number}, p. {1 + number % 90}. [https://example.org/{number} On line]</ref>",
            f"<ref name=r{number} />",
        )
    )


def infobox(article: Article, titles: Titles, names: Names, draws: Draws) -> str:
    """An infobox with nested links and templates."""
    linked = [span for s in article.sentences() for span in _linkable(s, titles)][:2]
    rows = "".join(f"| related{n} = [[{titles.pages[s.entity]}]]<br />\n" for n, s in enumerate(linked))
    return (
        "{{Infobox item\n"
        f"| name = {article.title}\n| image = [[{names.file}:{article.title}.jpg|250px]]\n"
        f"| updated = {{{{start date|2021|{draws.between(1, 12)}|{draws.between(1, 28)}}}}}\n{rows}}}}}\n"
    )


def thumbnail(article: Article, titles: Titles, names: Names, draws: Draws) -> str:
    """An image whose caption holds links of its own."""
    linked = [s for s in article.sentences() if _linkable(s, titles)]
    caption = sentence_text(draws.pick(linked), titles, draws) if linked else escape(article.title)
    return f"[[{names.file}:{article.title}.jpg|thumb|{draws.pick(('left', 'right'))}|200px|{caption}]]\n"


def table(article: Article, titles: Titles, draws: Draws) -> str:
    """A table with links, and sometimes a table in a table."""
    rows = [
        f"|-\n| {n} || [[{titles.pages[s.entity]}]]\n"
        for n, s in enumerate(_linkable(article.sentences()[-1], titles), 1)
    ]
    inner = '|-\n| colspan="2" |\n{|\n| 1 || 2\n|}\n' if draws.chance(0.3) else ""
    return '{| class="wikitable sortable"\n|+ ' + article.title + "\n! n !! item\n" + "".join(rows) + inner + "|}\n"


def article_text(article: Article, titles: Titles, names: Names, draws: Draws, between: str) -> str:
    """The whole page: furniture, lead, sections, references, categories. `between` stands between two sentences."""
    parts = _furniture(article, titles, names, draws)
    bold, referenced = article.title, False
    for section in article.sections:
        if section.title:
            parts.append(f"\n== {section.title} ==\n")
        for paragraph in section.paragraphs:
            written = []
            for sentence in paragraph:
                text = sentence_text(sentence, titles, draws, bold)
                bold = "" if "'''" in text else bold
                if draws.chance(0.15):
                    text, referenced = text + reference(draws), True
                written.append(text)
            parts.append(between.join(written) + "\n\n")
    if draws.chance(0.2):
        parts.append(table(article, titles, draws))
    if referenced:
        parts.append("\n== References ==\n{{Reflist|30em}}\n")
    if draws.chance(0.4):
        parts.append(f"\n{{{{DEFAULTSORT:{article.title}}}}}\n")
    parts.append(f"[[{names.category}:{article.title[:1]}]]\n[[{names.category}:{MAINTENANCE}| ]]\n")
    return "".join(parts)


def _furniture(article: Article, titles: Titles, names: Names, draws: Draws) -> list[str]:
    """What stands before the lead."""
    parts = []
    if draws.chance(0.3):
        parts.append(f"{{{{Use dmy dates|date=July {draws.between(2010, 2022)}}}}}\n")
    if draws.chance(0.5):
        parts.append(infobox(article, titles, names, draws))
    if draws.chance(0.25):
        parts.append(thumbnail(article, titles, names, draws))
    if draws.chance(0.2):
        parts.append("<!-- please keep the lead short; see [[Wikipedia:Lead]] -->\n")
    return parts
