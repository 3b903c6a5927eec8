"""Read Wikipedia's XML dumps: plain, bzip2, or shards of multistream bzip2.

Pages are streamed through lxml, which expands no entities and fetches nothing. It reads the export formats 0.6 (of
2012) to 0.11 (https://www.mediawiki.org/xml/export-0.11.xsd and its predecessors).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from stele.corpora.dumps.dump_files import DumpFiles, parts_of_shard, read_blocks, read_siteinfo
from stele.corpora.wikitext.titles import Site
from stele.errors import SteleError

LARGEST_PAGE = 128 << 20  # bytes of XML; Wikimedia's pages have 2 MB at most
LARGEST_HEADER = 1 << 20  # bytes of XML before the first page
OLDEST = 6  # format 0.6: exports before it state no targets of redirects and no namespaces of pages
_END = b"</mediawiki>\n"
_LINE = re.compile(rb"^(\d{1,15}):\d+:", re.M)  # of an index: offset:page id:title
# allowed before the root: a declaration, comments, white space, but no document type, which may define entities
_PROLOG = re.compile(r"\ufeff?(?:\s|<\?(?:(?!\?>).)*\?>|<!--(?:(?!--).)*-->)*", re.S)


class Page(NamedTuple):
    """One page of a dump; `redirect` is the target's title as written, None for a page that is not a redirect."""

    title: str
    namespace: int
    page_id: str
    redirect: str | None
    text: str
    model: str


class Part(NamedTuple):
    """Byte ranges of a multistream dump: its header is [0, header), a shard's blocks are [begin, end)."""

    header: int
    begin: int
    end: int


def block_offsets(index: Path) -> Iterator[int]:
    """Yields a dump's block offsets from its index (`offset:page id:title`). Raises SteleError for another line."""
    pending, last = b"", None
    for block in chain(read_blocks(index), [b"\n"]):
        lines, _, pending = (pending + block).rpartition(b"\n")
        entries = _LINE.findall(lines)
        if len(entries) != lines.count(b"\n") + bool(lines):
            wrong = next(line for line in lines.split(b"\n") if not _LINE.match(line))
            raise SteleError(f"{index}: not a multistream index: line {wrong[:60]!r}, want offset:page id:title")
        for offset in dict.fromkeys(entries):
            if offset != last:
                yield int(offset)
            last = offset


def shard_part(offsets: Iterable[int], size: int, shard: int, shards: int) -> Part | None:
    """Bytes of shard `shard` of `shards` (from 1): whole blocks, of about equal size; all shards cover all blocks.

    `offsets` of the blocks in a dump of `size` bytes are read as far as needed. None without a block. Raises SteleError
    for offsets that do not ascend within the dump.

    >>> [shard_part([100, 200, 300, 900], 1000, i, 2) for i in (1, 2)]
    [Part(header=100, begin=100, end=300), Part(header=100, begin=300, end=1000)]
    """
    offsets = iter(offsets)
    first = next(offsets, None)
    if first is None:
        return None
    total, before = size - first, first
    wanted = [first + total * number // shards for number in (shard - 1, shard)]
    borders: list[int] = []
    for offset in chain([first], offsets, [None]):
        if offset is not None and not 0 < before <= offset < size:
            raise SteleError(
                f"its index gives a block at byte {offset} after one at {before}, but the dump has {size} bytes: "
                "they do not match; fetch both again"
            )
        after = size if offset is None else offset
        while len(borders) < 2 and wanted[len(borders)] <= after:
            aim = wanted[len(borders)]
            borders.append(before if aim - before < after - aim else after)
        if len(borders) == 2:
            break
        before = after
    return Part(first, *borders)


def read_dump(
    dump: Sequence[DumpFiles], shard: int = 1, shards: int = 1, progress: Callable[[int], None] | None = None
) -> Iterator[Site | Page]:
    """Yields the Site of a dump (or of each of its parts), followed by its pages in one shard, in order.

    A dump in parts is divided by whole parts; a dump that cannot be divided is read by shard 1, and other shards get a
    Site without pages. Raises SteleError if a dump is damaged, declares entities, or does not match its index.
    """
    if len(dump) == 1:
        return _read(dump[0], shard, shards, progress)
    chosen = parts_of_shard(dump, shard, shards)
    return chain.from_iterable(_read(part, 1, 1, progress) for part in chosen) if chosen else _read(dump[0], 2, 2, None)


def can_be_shared(dump: Sequence[DumpFiles]) -> bool:
    """Whether a dump can be divided among shards: it has several parts, or blocks and an index that lists them."""
    return len(dump) > 1 or (dump[0].can_be_cut() and next(block_offsets(dump[0].index), None) is not None)


def _read(dump: DumpFiles, shard: int, shards: int, progress: Callable[[int], None] | None) -> Iterator[Site | Page]:
    path, siteinfo = dump.articles, read_siteinfo(dump.siteinfo)
    part = None
    if shards > 1 and dump.can_be_cut():
        try:
            part = shard_part(block_offsets(dump.index), path.stat().st_size, shard, shards)
        except SteleError as error:
            raise SteleError(f"{path}: {error}") from None
    if part is not None:
        return _parse(_blocks(path, part, progress), path, siteinfo)
    pages = _parse(read_blocks(path, progress=progress), path, siteinfo)
    return pages if shard == 1 else islice(pages, 1)


def _blocks(path: Path, part: Part, progress: Callable[[int], None] | None) -> Iterator[bytes]:
    yield _header(path, part.header)
    if part.begin < part.end:
        yield from read_blocks(path, part.begin, part.end, progress)
    if part.end < path.stat().st_size or part.begin == part.end:
        yield _END


def _header(path: Path, end: int) -> bytes:
    """Reads the XML before the first block. Raises SteleError for a page there: the index lacks the first blocks."""
    header = b""
    for block in read_blocks(path, 0, end):
        header += block
        if b"<page>" in header or len(header) > LARGEST_HEADER:
            raise SteleError(f"{path}: pages before byte {end}, where its index has the first one; fetch both again")
    return header


class _Stream:
    """File object over blocks of bytes, for lxml; `unread` counts the bytes since the last complete page."""

    def __init__(self, blocks: Iterator[bytes], path: Path) -> None:
        self.blocks, self.block, self.position, self.unread, self.path = blocks, b"", 0, 0, path

    def read(self, size: int) -> bytes:
        if self.position >= len(self.block):
            self.block, self.position = next(self.blocks, b""), 0
        chunk = self.block[self.position : self.position + size]
        self.position += size
        self.unread += len(chunk)
        if self.unread > LARGEST_PAGE:
            raise SteleError(f"{self.path}: no page ends within {LARGEST_PAGE >> 20} MB; it is not a MediaWiki export")
        return chunk


def _parse(blocks: Iterator[bytes], path: Path, siteinfo: dict[str, int]) -> Iterator[Site | Page]:
    _refuse_doctype(head := next(blocks, b""), path)
    stream = _Stream(chain([head], blocks), path)
    events = etree.iterparse(
        stream, events=("end",), tag=("{*}siteinfo", "{*}page"), resolve_entities=False, no_network=True,
        load_dtd=False, dtd_validation=False, huge_tree=True, recover=False,
    )  # fmt: skip
    site: Site | None = None
    last = ""
    try:
        for _, element in events:
            stream.unread = 0
            if element.tag.endswith("siteinfo"):
                if element.getroottree().docinfo.internalDTD is not None:  # hidden by an encoding
                    raise _doctype(path)
                site = _site(element, siteinfo, path)
                yield site
            else:
                if site is None:
                    break
                page = _page(element, site)
                last = page.title
                yield page
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except etree.XMLSyntaxError as error:
        after = f" after page {last!r}" if last else ""
        raise SteleError(f"{path}: damaged or truncated XML{after} ({error.msg}); fetch it again") from None
    if site is None:
        raise SteleError(
            f"{path}: an export without a <siteinfo> before its first page; it gives the wiki's namespaces and its way "
            "to write titles. Export the pages again with it, or copy it from another export of the same wiki"
        )


def _refuse_doctype(head: bytes, path: Path) -> None:
    """Raises SteleError for a document type, which dumps lack: it could declare entities that expand without end."""
    text = head[: 1 << 20].decode("utf-8", errors="replace")
    root = text[_PROLOG.match(text).end() :]
    if root.startswith("<!DOCTYPE"):
        raise _doctype(path)
    if not root.startswith("<mediawiki"):
        raise SteleError(f"{path}: does not begin with <mediawiki ...>, so it is not a MediaWiki export")


def _doctype(path: Path) -> SteleError:
    return SteleError(
        f"{path}: declares a document type (it may hide entities); no MediaWiki export has one, so it is not read"
    )


def _site(element: etree._Element, siteinfo: dict[str, int], path: Path) -> Site:
    """Makes the Site of an export's header; the header's names of namespaces override `siteinfo`'s.

    Raises SteleError for an export of a format before OLDEST.
    """
    root = element.getroottree().getroot()
    version = re.fullmatch("0[.]([0-9]{1,3})", root.get("version") or "")
    if version and int(version[1]) < OLDEST:
        raise SteleError(f"{path}: an export in format {version[0]}, want 0.{OLDEST} or later; export the pages again")
    language = root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    numbers: dict[str, int] = {}
    for space in element.iterfind("{*}namespaces/{*}namespace"):
        if space.text and re.fullmatch("-?[0-9]{1,9}", key := space.get("key") or ""):
            numbers[space.text] = int(key)
    return Site(language, element.findtext("{*}case") != "case-sensitive", {**siteinfo, **numbers})


def _page(element: etree._Element, site: Site) -> Page:
    """Makes the Page of an exported element; a missing title becomes ""."""
    title = element.findtext("{*}title") or ""
    revisions = element.findall("{*}revision")
    revision = revisions[-1] if revisions else None  # the latest in a dump with history
    text = revision.findtext("{*}text") or "" if revision is not None else ""
    model = revision.findtext("{*}model") or "wikitext" if revision is not None else "wikitext"
    redirect, namespace = element.find("{*}redirect"), element.findtext("{*}ns")
    number = int(namespace) if re.fullmatch("-?[0-9]{1,9}", namespace or "") else site.prefix(title)[0]
    return Page(
        title,
        0 if number is None else number,
        element.findtext("{*}id") or title,
        None if redirect is None else redirect.get("title") or None,
        text,
        model,
    )
