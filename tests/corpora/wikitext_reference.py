"""What extraction is compared with: real pages in two halves, mwparserfromhell's links, marks that are no text."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import mwparserfromhell

from stele.corpora.dumps.dump_files import DumpFiles
from stele.corpora.dumps.xml_dump import read_dump
from stele.corpora.wikitext.titles import MAIN, Site

CATEGORIES = "Category|Kategorie|Catégorie|Kategoreja|Категория|تصنيف|বিষয়শ্রেণী|श्रेणी|分类|หมวดหมู่|분류|వర్గం|Κατηγορία"
FILES = "File|Image|Attēls|Fails|Datei|Bild|Файл|Fichier|Vaizdas|ملف|চিত্র|चित्र|ファイル|ไฟล์|파일|దస్త్రం|Αρχείο"
TAGS = (
    "br|small|big|sub|sup|div|span|table|t[dhr]|center|gallery|math|nowiki|p|b|i|u|s|font|blockquote|code|tt|pre|hr|cite"
    "|li|ul|ol|dl|dd|dt|imagemap|timeline|source|syntaxhighlight|poem|abbr|noinclude|includeonly|onlyinclude|ruby|r[bpt]"
)
RESIDUE = {
    "[[": re.compile(r"\[\["),
    "]]": re.compile(r"\]\]"),
    "{{": re.compile(r"\{\{"),
    "}}": re.compile(r"\}\}"),
    "{|": re.compile(r"\{\|"),
    "|}": re.compile(r"\|\}"),
    "|": re.compile(r"\|"),
    "category": re.compile(rf"\b(?:{CATEGORIES}):(?=\S)", re.I),
    "file": re.compile(rf"\b(?:{FILES}):(?=\S)", re.I),
    "px": re.compile(r"\b\d+ ?px\b"),
    "ref": re.compile(r"</?ref(?:erences)?\b|<!--|-->", re.I),
    "tag": re.compile(rf"</?(?:{TAGS})\b[^<>]*>", re.I),
}


class Wiki(NamedTuple):
    """The articles of one wiki, as (title, wikitext), and what its siteinfo says."""

    name: str
    site: Site
    articles: list[tuple[str, str]]


def set_aside(title: str) -> bool:
    """Whether a page is of the half on which figures are reported; rules are mended on the other half."""
    return hashlib.sha256(title.encode()).digest()[0] % 2 == 1


def real_wikis(folder: Path) -> list[Wiki]:
    return [dump_wiki(path) for path in sorted(folder.glob("*-pages-articles*.xml*"))]


def dump_wiki(path: Path) -> Wiki:
    """The articles of a dump; `ltgwiki-pages-articles.xml` is of wiki ltgwiki."""
    site, *pages = read_dump([DumpFiles(path)])
    articles = [
        (page.title, page.text)
        for page in pages
        if page.namespace == MAIN and page.redirect is None and page.model == "wikitext"
    ]
    return Wiki(path.name.partition("-")[0], site, articles)


def half(wiki: Wiki, aside: bool) -> Wiki:
    return wiki._replace(articles=[(title, text) for title, text in wiki.articles if set_aside(title) == aside])


def top_level_links(wikitext: str, site: Site) -> Counter[str]:
    """Articles that mwparserfromhell finds linked at the top level of a page, in our normal form.

    Bold and italics are not parsed: for that parser a link between '' and '' would be inside a node.
    """
    code = mwparserfromhell.parse(wikitext, skip_style_tags=True)
    return articles_of((str(link.title) for link in code.ifilter_wikilinks(recursive=False)), site)


def articles_of(titles: Iterable[str], site: Site) -> Counter[str]:
    """How often each article is linked to, of link targets as written."""
    found: Counter[str] = Counter()
    for title in titles:
        name = title.strip(" \n_\u200e\u200f").removeprefix(":")
        if site.prefix(name)[0] == MAIN and (target := site.normalise(name)):
            found[target] += 1
    return found


def in_tables(wikitext: str, site: Site) -> Counter[str]:
    """Articles linked to between a line that opens a table and the line or heading that ends it, by lines alone.

    mwparserfromhell takes a `{|` table whose rows are HTML for text, and its links for top-level ones.
    """
    depth, targets = 0, []
    for line in wikitext.split("\n"):
        opens = line.lstrip(" \t:*#;").startswith("{|")
        depth += opens
        if line.startswith("=="):
            depth = 0
        if depth:
            targets += re.findall(r"\[\[([^\[\]|]+)", line)
        if line.lstrip(" \t").startswith("|}"):
            depth = max(depth - 1, 0)
    return articles_of(targets, site)


def residue(text: str) -> list[tuple[str, str]]:
    """(kind, characters) of each stretch of markup left in a text."""
    return [(kind, found) for kind, pattern in RESIDUE.items() for found in pattern.findall(text)]
