"""Formats of Wikimedia's dump files: multistream XML with index, checksum file, mysqldump.

Formats: https://www.mediawiki.org/xml/export-0.10.xsd; the multistream layout (header, blocks of 100 pages, footer,
each a separate bzip2 stream; index lines `offset:page id:title`); `sha1` of a revision is the base-36 number of the
text's SHA-1, 31 digits.
"""

import bz2
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import NamedTuple

from pydantic import Field

from stele.catalogue import read_yaml
from stele.files.strict import Strict
from stele_world.site import lines
from stele_world.writers.library import filled, template

BLOCK = 100  # pages of one bzip2 stream


class Names(Strict):
    """A Wikipedia's names of the namespaces 6, 14, 10 and 1, and its magic word for redirects (namespaces.yaml)."""

    file: str
    category: str
    template: str
    talk: str
    redirect: str
    file_aliases: list[str] = Field([], min_length=1, description="further names that the wiki accepts")
    category_aliases: list[str] = Field([], min_length=1)


ENGLISH = Names(file="File", category="Category", template="Template", talk="Talk", redirect="#REDIRECT")


@cache
def names(language: str) -> Names:
    """Names in the Wikipedia of a language, or the English ones if namespaces.yaml lacks it."""
    local = read_yaml(Path(__file__).with_name("namespaces.yaml")).get(language)
    return Names(**local) if local else ENGLISH


def namespaces(language: str) -> list[tuple[int, str]]:
    """Namespaces of a Wikipedia as (key, name), in the order of dumps."""
    local = names(language)
    of_pages = {2: "User", 4: "Wikipedia", 6: local.file, 8: "MediaWiki", 10: local.template}
    of_pages |= {12: "Help", 14: local.category, 828: "Module"}
    pairs = [pair for key, name in of_pages.items() for pair in ((key, name), (key + 1, f"{name} talk"))]
    return [(-2, "Media"), (-1, "Special"), (0, ""), (1, local.talk), *pairs]


class OtherPage(Strict):
    """A page of other_pages.yaml; its title and text name the wiki's namespaces."""

    namespace: int = Field(ge=1)
    title: str
    text: str
    model: str = "wikitext"


class OtherPages(Strict):
    """Contents of other_pages.yaml."""

    pages: list[OtherPage]


class Page(NamedTuple):
    """A page of a wiki; `redirect` is the title to which it redirects, "" if it does not."""

    id: int
    namespace: int
    title: str
    text: str
    redirect: str = ""
    model: str = "wikitext"


def other_pages(language: str, first: int) -> list[Page]:
    """Pages of other_pages.yaml for the Wikipedia of a language, with ids from `first` on."""
    local = names(language).model_dump()
    pages = OtherPages(**read_yaml(Path(__file__).with_name("other_pages.yaml"))).pages
    return [
        Page(
            number, page.namespace, *(Template(t).substitute(local) for t in (page.title, page.text)), model=page.model
        )
        for number, page in enumerate(pages, first)
    ]


def siteinfo_json(language: str, wiki: str) -> bytes:
    """Contents of siteinfo-namespaces.json: the answer of api.php?action=query&meta=siteinfo, first format."""
    canonical = dict(namespaces("en"))
    spaces = {
        str(key): {"id": key, "case": "first-letter", "*": name, **({"canonical": canonical[key]} if name else {})}
        for key, name in namespaces(language)
    }
    local = names(language)
    aliases = {4: ["WP"], 5: ["WT"], 6: ["Image", *local.file_aliases], 7: ["Image talk"], 14: local.category_aliases}
    redirect = list(dict.fromkeys([local.redirect, "#REDIRECT"]))
    answer = {
        "general": {"sitename": "Wikipedia", "dbname": wiki, "lang": language, "case": "first-letter"},
        "namespaces": spaces,
        "namespacealiases": [{"id": key, "*": name} for key, of_key in aliases.items() for name in of_key],
        "magicwords": [{"name": "redirect", "aliases": redirect}, {"name": "notoc", "aliases": ["__NOTOC__"]}],
    }
    return json.dumps({"batchcomplete": "", "query": answer}, ensure_ascii=False).encode()


def page_xml(page: Page) -> str:
    """Formats one <page> with one revision."""
    import numpy as np

    data = page.text.encode()
    sha1 = np.base_repr(int(hashlib.sha1(data, usedforsecurity=False).hexdigest(), 16), 36).lower().zfill(31)
    return filled(template("page.xml"), page=page, size=len(data), sha1=sha1)


def multistream(language: str, wiki: str, pages: Sequence[Page]) -> tuple[bytes, bytes, bytes]:
    """Formats a wiki's pages as (compressed dump, its uncompressed bytes, uncompressed index)."""
    header = filled(template("siteinfo.xml"), language=language, wiki=wiki, namespaces=namespaces(language)).encode()
    streams, raw, index = [bz2.compress(header)], [header], []
    offset = len(streams[0])
    for start in range(0, len(pages), BLOCK):
        chosen = pages[start : start + BLOCK]
        data = "".join(page_xml(page) for page in chosen).encode()
        index += [f"{offset}:{page.id}:{page.title}\n" for page in chosen]
        streams.append(bz2.compress(data))
        raw.append(data)
        offset += len(streams[-1])
    raw.append(b"</mediawiki>\n")
    streams.append(bz2.compress(raw[-1]))
    return b"".join(streams), b"".join(raw), "".join(index).encode()


def checksums(files: Mapping[str, bytes]) -> bytes:
    """Lines of {wiki}-{date}-sha1sums.txt: digest, two blanks, file name."""
    digests = {name: hashlib.sha1(data, usedforsecurity=False).hexdigest() for name, data in files.items()}
    return lines(f"{digest}  {name}" for name, digest in digests.items())


ROWS_OF_AN_INSERT = 20_000  # upstream's lines are about a megabyte long


def _quoted(text: str) -> str:
    """Quotes text as mysqldump does: with backslash escapes, no doubled quotes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"').replace("\n", "\\n") + "'"


def items_per_site(rows: Iterable[tuple[int, str, str]]) -> bytes:
    """Contents of wb_items_per_site.sql, from (item number, site, title): which item each page is about."""
    values = [f"({n},{item},{_quoted(site)},{_quoted(title)})" for n, (item, site, title) in enumerate(rows, 1)]
    return filled(template("items_per_site.sql"), rows=values, rows_of_an_insert=ROWS_OF_AN_INSERT).encode()
