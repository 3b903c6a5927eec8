"""Wikipedia XML dumps: plain, bzip2, or shards of multistream bzip2.

Pages are streamed through lxml, without entity expansion and without anything being fetched.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from stele.corpora.decompress import compression_of, read_blocks
from stele.corpora.titles import Site
from stele.errors import SteleError

_REDIRECT_TARGET = re.compile(r"\s*#[^\[\n]*\[\[([^\[\]|#\n]+)")
_REDIRECT_WORD = re.compile(r"\s*#\s*redirect\b", re.I)
_END = b"</mediawiki>\n"
# what may stand before the root: a declaration, comments, white space; a document type (and its entities) may not
_PROLOG = re.compile(r"\ufeff?(?:\s|<\?(?:(?!\?>).)*\?>|<!--(?:(?!--).)*-->)*", re.S)


class DumpFiles(NamedTuple):
    """The dump of one wiki: the articles and, for a multistream dump, its index."""

    articles: Path
    index: Path | None


class Page(NamedTuple):
    """One page of a dump; `redirect` is the target's title as written, None for other pages."""

    title: str
    namespace: int
    page_id: str
    redirect: str | None
    text: str
    model: str


def find_dump(folder: Path) -> DumpFiles:
    """The dump in a dataset folder; several or none are an error that lists what is there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and "pages-articles" in path.name)
    articles = [
        path for path in files if re.search(r"\.xml(?:-p\d+p\d+)?[^/]*$", path.name) and "index" not in path.name
    ]
    multistream = [path for path in articles if "multistream" in path.name]
    chosen = multistream or articles
    if len(chosen) != 1:
        there = (
            ", ".join(sorted(path.name for path in folder.rglob("*") if path.is_file()))
            if folder.is_dir()
            else "no such folder"
        )
        raise SteleError(f"{folder}: want one *-pages-articles*.xml or .xml.bz2, found {len(chosen)} (files: {there})")
    stem = chosen[0].name.partition(".")[0]
    indexes = [
        path for path in files if path.name.partition(".")[0].replace("-index", "") == stem and path != chosen[0]
    ]
    return DumpFiles(chosen[0], indexes[0] if multistream and indexes else None)


def block_offsets(index: Path) -> list[int]:
    """Where the blocks of a multistream dump begin, ascending, from its index (`offset:page id:title` lines)."""
    offsets: set[int] = set()
    pending = b""
    for block in read_blocks(index):
        *lines, pending = (pending + block).split(b"\n")
        offsets.update(_offset(line, index) for line in lines)
    if pending:
        offsets.add(_offset(pending, index))
    if not offsets:
        raise SteleError(f"{index}: an index without a line; fetch it again")
    return sorted(offsets)


def _offset(line: bytes, index: Path) -> int:
    head, colon, rest = line.partition(b":")
    if not (colon and head.isdigit() and b":" in rest):
        raise SteleError(f"{index}: not a multistream index: line {line[:60]!r}, want offset:page id:title")
    return int(head)


def shard_range(offsets: list[int], size: int, shard: int, shards: int) -> tuple[int, int]:
    """Bytes [begin, end) of shard `shard` of `shards` (from 1): whole blocks, about equal bytes, together all blocks.

    >>> [shard_range([100, 200, 300, 900], 1000, i, 2) for i in (1, 2)]
    [(100, 900), (900, 1000)]
    """
    if offsets[0] <= 0 or offsets[-1] >= size:
        found = f"blocks from byte {offsets[0]} to {offsets[-1]}"
        raise SteleError(f"the index gives {found}, the dump has {size} bytes: they do not match; fetch both again")
    first, total = offsets[0], size - offsets[0]

    def border(number: int) -> int:
        if number == shards:
            return size
        wanted = first + total * number // shards
        at = bisect_left(offsets, wanted)
        before, after = offsets[max(at - 1, 0)], offsets[at] if at < len(offsets) else size
        return before if wanted - before < after - wanted else after

    return border(shard - 1), border(shard)


def read_dump(
    dump: DumpFiles, shard: int = 1, shards: int = 1, progress: Callable[[int], None] | None = None
) -> Iterator[Site | Page]:
    """First the Site of a dump, then the pages of one shard, in order.

    A dump without an index cannot be cut: it is read whole as shard 1 of 1. Raises SteleError for what is damaged,
    truncated, declares entities, or does not match its index.
    """
    path = dump.articles
    if shards == 1 and shard == 1:
        return _parse(read_blocks(path, progress=progress), path)
    if dump.index is None or compression_of(path) != "bzip2":
        raise SteleError(f"{path}: only a multistream dump with its index can be cut into {shards} shards; use 1/1")
    offsets = block_offsets(dump.index)
    begin, end = shard_range(offsets, size := path.stat().st_size, shard, shards)
    return _parse(_shard_blocks(path, offsets[0], begin, end, size, progress), path)


def _shard_blocks(path: Path, header: int, begin: int, end: int, size: int, progress) -> Iterator[bytes]:
    yield from read_blocks(path, 0, header)
    if begin < end:
        yield from read_blocks(path, begin, end, progress)
    if end < size or begin == end:
        yield _END


class _Stream:
    """Blocks of bytes as the file object that lxml reads."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks, self.block, self.position = blocks, b"", 0

    def read(self, size: int) -> bytes:
        if self.position >= len(self.block):
            self.block, self.position = next(self.blocks, b""), 0
        taken = self.block[self.position : self.position + size]
        self.position += size
        return taken


def _parse(blocks: Iterator[bytes], path: Path) -> Iterator[Site | Page]:
    _refuse_doctype(head := next(blocks, b""), path)
    stream = _Stream(chain([head], blocks))
    events = etree.iterparse(
        stream, events=("end",), tag=("{*}siteinfo", "{*}page"), resolve_entities=False, no_network=True,
        load_dtd=False, dtd_validation=False, huge_tree=True, recover=False,
    )  # fmt: skip
    site: Site | None = None
    last = ""
    try:
        for _, element in events:
            if element.tag.endswith("siteinfo"):
                if element.getroottree().docinfo.internalDTD is not None:  # in an encoding that hid it
                    raise _doctype(path)
                site = _site(element)
                yield site
            else:
                if site is None:
                    raise SteleError(f"{path}: a page before the <siteinfo>: not a MediaWiki export")
                page = _page(element, site, path)
                last = page.title
                yield page
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        after = f" after page {last!r}" if last else ""
        raise SteleError(f"{path}: damaged or truncated XML{after} ({error.msg}); fetch it again") from None
    if site is None:
        raise SteleError(f"{path}: no <siteinfo> in it: not a MediaWiki export of pages")


def _refuse_doctype(head: bytes, path: Path) -> None:
    """No dump has a document type; one that has could declare entities that explode, in attributes at once."""
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-16-be" if head[:1] == b"\0" else "utf-8"
    if head[1:2] == b"\0":
        encoding = "utf-16-le"
    text = head[: 1 << 20].decode(encoding, errors="replace")
    root = text[_PROLOG.match(text).end() :]
    if root.startswith("<!DOCTYPE"):
        raise _doctype(path)
    if not root.startswith("<mediawiki"):
        raise SteleError(f"{path}: does not begin with <mediawiki ...>: not a MediaWiki export")


def _doctype(path: Path) -> SteleError:
    return SteleError(
        f"{path}: declares a document type, which no MediaWiki export does (it may hide entities); refused"
    )


def _site(element: etree._Element) -> Site:
    root = element.getparent()
    language = (root.get("{http://www.w3.org/XML/1998/namespace}lang") if root is not None else None) or ""
    names = {
        node.text: int(node.get("key"))
        for node in element.iterfind("{*}namespaces/{*}namespace")
        if node.text and (node.get("key") or "").lstrip("-").isdigit()
    }
    return Site(language, element.findtext("{*}case", "first-letter") != "case-sensitive", names)


def _page(element: etree._Element, site: Site, path: Path) -> Page:
    title = element.findtext("{*}title") or ""
    if not title:
        raise SteleError(f"{path}: a page without a title: damaged export")
    revisions = element.findall("{*}revision")
    revision = revisions[-1] if revisions else None  # the last one of a page with history
    text = revision.findtext("{*}text") or "" if revision is not None else ""
    model = revision.findtext("{*}model") or "wikitext" if revision is not None else "wikitext"
    namespace = element.findtext("{*}ns")  # absent before format 0.6
    number = int(namespace) if namespace and namespace.lstrip("-").isdigit() else site.prefix(title)[0]
    return Page(
        title,
        0 if number is None else number,
        element.findtext("{*}id") or title,
        _redirect(element, text),
        text,
        model,
    )


def _redirect(element: etree._Element, text: str) -> str | None:
    """The target of a redirect as the export gives it; exports before format 0.4 mark none, there the text says it."""
    node = element.find("{*}redirect")
    if node is not None and node.get("title"):
        return node.get("title")
    if node is None and not _REDIRECT_WORD.match(text):
        return None
    match = _REDIRECT_TARGET.match(text)
    return match.group(1) if match else None
