"""Writers of Wikipedia dumps, and of the Wikidata table that maps pages to items."""

import re
from collections.abc import Mapping
from typing import NamedTuple
from xml.sax.saxutils import escape

from stele_world.content.draws import Draws, stream
from stele_world.content.model import Article, Link, Sentence
from stele_world.site import Site
from stele_world.writers.dump import (
    Names,
    Page,
    checksums,
    items_per_site,
    multistream,
    names,
    other_pages,
    siteinfo_json,
)
from stele_world.writers.library import PAGE_STEP, Library

MAINTENANCE = "Maintenance"  # a category that every page is in


class Titles(NamedTuple):
    """Page titles of a language: entity -> title of its page, and entity -> titles of redirects to it."""

    pages: Mapping[str, str]
    redirects: Mapping[str, tuple[str, ...]]


def link(title: str, surface: str, draws: Draws, redirects: tuple[str, ...] = ()) -> str:
    """Writes a wikitext link to `title` that shows `surface`.

    Draws among [[Title]] (letters that follow it are its trail), [[title]], [[Title|surface]], [[title|surface]],
    [[Some_title|surface]], [[Title#section|surface]], [[ Title |surface]] and [[Redirect|surface]].
    """
    if redirects and draws.chance(0.2):
        target = draws.pick(redirects)
        return f"[[{target}]]" if target == surface else f"[[{target}|{surface}]]"
    small = title if title[:1] in ("I", "İ") else title[:1].lower() + title[1:]  # in Turkish, small I is ı
    if surface in (title, small) and draws.chance(0.9):
        return f"[[{surface}]]"
    forms = (title, title, title, small, title.replace(" ", "_"), f"{title}#{draws.between(1, 3)}", f" {title} ")
    return f"[[{draws.pick(forms)}|{surface}]]"


def sentence_text(sentence: Sentence, titles: Titles, draws: Draws, bold: str = "") -> str:
    """Writes a sentence with its links; sets the first unlinked occurrence of the title `bold` in bold."""
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
    """Escapes unlinked text and sets `bold` in it; returns it with the title that is still to be set bold."""
    before, match, after = text.partition(bold) if bold else (text, "", "")
    if not match:
        return escape(text), bold
    return f"{escape(before)}'''{escape(bold)}'''{escape(after)}", ""


def reference(draws: Draws) -> str:
    """Writes a footnote in one of the usual ways; it is not part of the running text."""
    number = draws.between(0, 899)
    return draws.pick(
        (
            f'<ref name="r{number}">{{{{cite web |url=https://example.org/?a={number}&b=2 |title={number}}}}}</ref>',
            f"<ref>''Annals'', vol. {number}, p. {1 + number % 90}. [https://example.org/{number} On line]</ref>",
            f"<ref name=r{number} />",
        )
    )


def infobox(article: Article, titles: Titles, names: Names, draws: Draws) -> str:
    """Writes an infobox with nested links and templates."""
    linked = [span for s in article.sentences() for span in _linkable(s, titles)][:2]
    rows = "".join(f"| related{n} = [[{titles.pages[s.entity]}]]<br />\n" for n, s in enumerate(linked))
    return (
        "{{Infobox item\n"
        f"| name = {article.title}\n| image = [[{names.file}:{article.title}.jpg|250px]]\n"
        f"| updated = {{{{start date|2021|{draws.between(1, 12)}|{draws.between(1, 28)}}}}}\n{rows}}}}}\n"
    )


def thumbnail(article: Article, titles: Titles, names: Names, draws: Draws) -> str:
    """Writes an image whose caption contains links of its own."""
    linked = [s for s in article.sentences() if _linkable(s, titles)]
    caption = sentence_text(draws.pick(linked), titles, draws) if linked else escape(article.title)
    return f"[[{names.file}:{article.title}.jpg|thumb|{draws.pick(('left', 'right'))}|200px|{caption}]]\n"


def table(article: Article, titles: Titles, draws: Draws) -> str:
    """Writes a table with links, sometimes with a table inside a table."""
    rows = [
        f"|-\n| {n} || [[{titles.pages[s.entity]}]]\n"
        for n, s in enumerate(_linkable(article.sentences()[-1], titles), 1)
    ]
    inner = '|-\n| colspan="2" |\n{|\n| 1 || 2\n|}\n' if draws.chance(0.3) else ""
    return '{| class="wikitable sortable"\n|+ ' + article.title + "\n! n !! item\n" + "".join(rows) + inner + "|}\n"


def article_text(article: Article, titles: Titles, names: Names, draws: Draws, between: str) -> str:
    """Writes an article as wikitext: furniture, lead, sections, references, categories; `between` joins sentences.

    As real pages do, it has templates, infoboxes, references, tables, thumbnails with links in their captions,
    comments, entities, and links of every written form. The running text is exactly the article's sentences: a reader
    that strips the markup gets them back (a blank may come back as a no-break space).
    """
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


DATE = "20220801"
FOLDER = "https://dumps.wikimedia.org/{wiki}/" + DATE
REDIRECTS = 0.35  # share of the articles that a redirect leads to
DISAMBIGUATION = "Disambig"  # the template of disambiguation pages; most wikis also use this name


def _redirects(library: Library, language: str, titles: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Titles of redirects by entity: the last word of its name, its English name, or both with the type."""
    taken = {t[:1].upper() + t[1:] for t in titles.values()}
    titles_of = {}
    for entity, title in titles.items():
        if not stream(library.world.seed, "redirect", language, entity).chance(REDIRECTS):
            continue
        about = library.world.entities[entity]
        names_ = (title.rpartition(" ")[2], about.names["en"], f"{title} ({about.type})")
        name = next((n for n in (n[:1].upper() + n[1:] for n in names_) if n not in taken), None)
        if name:
            taken.add(name)
            titles_of[entity] = (name,)
    return titles_of


def _disambiguation(library: Library, titles: dict[str, str], taken: set[str], number: int) -> list[Page]:
    """Makes a page about the first English name that two entities share and no page has as title.

    Only its template distinguishes it from an article, as in real dumps.
    """
    sharing: dict[str, list[str]] = {}
    for entity in titles:
        first, blank, _ = library.world.entities[entity].names["en"].partition(" ")
        if blank and first not in taken:
            sharing.setdefault(first, []).append(entity)
    for name, entities in sharing.items():
        if len(entities) > 1:
            rows = "".join(f"* [[{titles[entity]}]]\n" for entity in entities)
            return [Page(number, 0, name, f"'''{name}''':\n{rows}\n{{{{{DISAMBIGUATION}}}}}\n")]
    return []


def pages_of(library: Library, language: str) -> list[Page]:
    """All pages of a Wikipedia, by page id."""
    local, numbers = names(language), library.pages(language)
    titles = library.titles(language)
    redirects = _redirects(library, language, titles)
    linked = Titles(titles, redirects)
    pages = []
    for article in library.articles(language):
        number = numbers[article.entity]
        draws = stream(library.world.seed, "wikitext", language, article.entity)
        text = article_text(article, linked, local, draws, library.between(language))
        pages.append(Page(number, 0, article.title, text))
        for name in redirects.get(article.entity, ()):
            target = f"{article.title}#1" if draws.chance(0.1) else article.title
            word = draws.pick((local.redirect, "#REDIRECT", "#redirect"))
            text = f"{word} [[{target}]]" + draws.pick(("", "\n\n{{R from other name}}"))
            pages.append(Page(number + 1, 0, name, text, redirect=article.title))
    taken = {page.title for page in pages}
    first = max(numbers.values(), default=1) + PAGE_STEP
    shared = _disambiguation(library, titles, taken, first)
    return [*pages, *shared, *other_pages(language, first + len(shared))]


def write_wikipedia(site: Site, library: Library) -> None:
    """Writes Wikipedia dumps, and the Wikidata table that maps pages to items.

    Every wiki has articles, redirects (with the localised magic word), a disambiguation page if two titles need
    one, and pages of other namespaces, in the order of their page ids. Formats: see dump.py.
    """
    for language, subdomain in library.languages_with("wikipedia").items():
        wiki = subdomain.replace("-", "_") + "wiki"
        folder, stem = FOLDER.format(wiki=wiki), f"{wiki}-{DATE}"
        pages = pages_of(library, language)
        dump, raw, index = multistream(language, wiki, pages)
        written = {f"{stem}-pages-articles-multistream.xml.bz2": (raw, dump)}
        written[f"{stem}-pages-articles-multistream-index.txt.bz2"] = (index, None)
        files = {name: site.put(f"{folder}/{name}", *data) for name, data in written.items()}
        about = f"{stem}-siteinfo-namespaces.json.gz"
        files[about] = site.put(f"{folder}/{about}", siteinfo_json(language, wiki))
        _put_sums(site, wiki, files)
        articles = len(library.articles(language))
        redirects = sum(bool(page.redirect) for page in pages)
        site.count("wikipedia", language, pages=len(pages), articles=articles, redirects=redirects)
    _write_items(site, library)


def _write_items(site: Site, library: Library) -> None:
    """Writes wb_items_per_site: rows by item, then by site; Commons has links that no reader of a wiki uses."""
    sites = {code: sub.replace("-", "_") + "wiki" for code, sub in library.languages_with("wikipedia").items()}
    rows = [(int(a.entity[1:]), sites[code], a.title) for code in sites for a in library.articles(code)]
    commons = [(item, "commonswiki", f"Category:{title}") for item, name, title in rows if name == "enwiki"][::5]
    name = f"wikidatawiki-{DATE}-wb_items_per_site.sql.gz"
    data = site.put(f"{FOLDER.format(wiki='wikidatawiki')}/{name}", items_per_site(sorted(rows + commons)))
    _put_sums(site, "wikidatawiki", {name: data})
    site.count("wikidata_items", rows=len(rows) + len(commons))


def _put_sums(site: Site, wiki: str, files: dict[str, bytes]) -> None:
    site.put(f"{FOLDER.format(wiki=wiki)}/{wiki}-{DATE}-sha1sums.txt", checksums(files))
