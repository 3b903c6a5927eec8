"""Fetch only the beginning of a corpus: the first documents of CC-100, or the first pages of a Wikipedia dump.

The beginning becomes a valid file in the corpus' format, so that readers need not know of the cut: a new .xz of the
first documents, or the unchanged first blocks of a multistream dump, the closing tag of the XML, and their index.
"""

import bz2
import logging
import lzma
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from stele.catalogue.schema.datasets import Part, PartFile
from stele.errors import SteleError
from stele.files.reading import open_bz2, open_xz, reading
from stele.registry import Registry
from stele.sources.download.places import Beginning, FetchedFile, Places
from stele.sources.download.user_files import Facts

log = logging.getLogger(__name__)

Fetched = list[tuple[PartFile, FetchedFile]]
CUTS: Registry = Registry("unit that a corpus is cut by")  # unit -> cut(source, first, places)
# reads a beginning, writes some of it to a path, returns the counts; `whole`: it was the complete file
Use = Callable[[Beginning, Path], Facts]
BLOCK = 1 << 20
LONGEST = 1 << 26  # bytes of a document
LINE = 1 << 16  # bytes of a line of an index, at most
DAMAGE = "compressed file", "fetch it again"  # what a damaged file should be, and the advice


@CUTS.register("documents")
def documents(source: Part, first: int, places: Places) -> Fetched:
    """Fetches the first documents of CC-100 and compresses them again; does not count documents of blank lines."""
    (file,) = source.files

    def use(beginning: Beginning, target: Path) -> Facts:
        number, whole = 0, True
        with reading(file.url, *DAMAGE), open_xz(beginning) as text, lzma.open(target, "wb", preset=1) as out:
            for document in split_documents(iter(lambda: text.read1(BLOCK), b"")):
                if number == first and document.strip():
                    whole = False
                    break
                out.write(document)
                number += bool(document.strip())
        return {"documents": number, "whole": whole}

    return [(file, _cut(source, file, places, use))]


def split_documents(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Splits blocks of bytes into documents, each with the empty line that ends it. Raises ValueError beyond 64 MB.

    >>> list(split_documents([b"a", b"\\nb\\n\\n\\n", b"\\nc"]))
    [b'a\\nb\\n\\n', b'\\n\\n', b'c']
    """
    pending = b""
    for block in blocks:
        *whole, pending = (pending + block).split(b"\n\n")
        for text in whole:
            yield text + b"\n\n"
        if len(pending) > LONGEST:
            raise ValueError(f"no empty line within {LONGEST >> 20} MB")
    yield pending


@CUTS.register("pages")
def pages(source: Part, first: int, places: Places) -> Fetched:
    """Fetches a multistream dump's first blocks, by the beginning of its index; raises SteleError if it ends before."""
    dump, index, *others = source.files
    ends: list[int | None] = []

    def use_index(beginning: Beginning, target: Path) -> Facts:
        number = 0
        with reading(index.url, *DAMAGE), open_bz2(beginning) as lines, bz2.open(target, "wb") as out:
            last = None
            for line in iter(lambda: lines.readline(LINE), b""):
                offset = _offset(line, index.url)
                if number >= first and offset != last:
                    ends.append(offset)
                    break
                out.write(line)
                number, last = number + 1, offset
        return {"pages": number, "whole": not ends}

    def use_dump(beginning: Beginning, target: Path) -> Facts:
        end = ends[-1] if ends else None
        with open(target, "wb") as out:
            while (end is None or out.tell() < end) and (
                block := beginning.read(BLOCK if end is None else min(BLOCK, end - out.tell()))
            ):
                out.write(block)
            if end is not None:
                if out.tell() < end:
                    raise SteleError(f"{dump.url}: ends before byte {end}, which its index names; fetch both again")
                out.write(bz2.compress(b"</mediawiki>\n"))
        return {name: index_got.beginning[name] for name in ("pages", "whole")}

    index_got = _cut(source, index, places, use_index)
    parts = [(dump, _cut(source, dump, places, use_dump)), (index, index_got)]
    for file in others:
        if (got := places.get(file, _describe(source, file), optional=file.optional)) is not None:
            parts.append((file, got))
    return parts


def _cut(source: Part, file: PartFile, places: Places, use: Use) -> FetchedFile:
    got = places.begin(file, _describe(source, file), use)
    log.info("%s: %s, %s checked by %s", _describe(source, file), got.beginning, got.origin, got.verified)
    return got


def _describe(source: Part, file: PartFile) -> str:
    return f"{source.dataset} {source.part} {file.path}"


def _offset(line: bytes, url: str) -> int:
    offset, *rest = line.split(b":", 2)
    if len(rest) != 2 or not offset.isdigit():
        raise SteleError(f"{url}: not a multistream index: found line {line[:60]!r}, want OFFSET:PAGE_ID:TITLE")
    return int(offset)
