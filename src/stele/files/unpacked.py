"""Files that may be compressed (gzip, bzip2, xz, zstd), opened for their unpacked bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from stele.files.reading import reading

BLOCK = 1 << 20  # bytes read at once
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def _open_zstd(path: Path) -> IO[bytes]:
    import pyarrow

    return io.BufferedReader(pyarrow.input_stream(str(path), compression="zstd"), BLOCK)


_OPEN: dict[bytes, Callable[[Path], Any]] = {  # by the first bytes
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"\x28\xb5\x2f\xfd": _open_zstd,
}


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """A file to read, unpacked as its first bytes say. Raises SteleError for a missing or damaged one."""
    with reading(path), open(path, "rb") as raw:
        start = raw.peek(6)
        opener = next((opener for magic, opener in _OPEN.items() if start.startswith(magic)), None)
        if opener is None:
            yield raw
        else:
            with opener(path) as handle:
                yield handle


def unpacked_blocks(path: Path) -> Iterator[bytes]:
    """The unpacked bytes of a file, a block at a time."""
    with open_unpacked(path) as handle:
        yield from iter(lambda: handle.read(BLOCK), b"")


def plain_name(name: str) -> str:
    """A file's name without the suffix of a compression.

    >>> plain_name("de/a.txt.xz"), plain_name("de.jsonl")
    ('de/a.txt', 'de.jsonl')
    """
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
