"""Strict streaming decompression of bzip2 and xz: what is damaged, cut short or followed by rubbish is an error.

The standard library's file objects silently stop at a damaged second stream, and multistream dumps are thousands of
streams; here every byte of the range must belong to a whole stream with a right checksum.
"""

from __future__ import annotations

import bz2
import lzma
from collections.abc import Callable, Iterator
from pathlib import Path

from stele.errors import SteleError
from stele.files.reading import reading

CHUNK = 1 << 20  # compressed bytes read at once, and the most that is decompressed at once
_MAGIC = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x1f\x8b": "gzip", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}


def compression_of(path: Path) -> str:
    """ "bzip2", "xz" or "plain", by the file's first bytes; other compressions and empty files are refused."""
    with reading(path, advice="fetch the dataset first"), open(path, "rb") as handle:
        start = handle.read(8)
    if not start:
        raise SteleError(f"{path}: empty file; delete it and fetch it again")
    compression = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), "plain")
    if compression not in ("bzip2", "xz", "plain"):
        raise SteleError(f"{path}: compressed with {compression}, want bzip2, xz or plain text")
    return compression


def read_blocks(
    path: Path, begin: int = 0, end: int | None = None, progress: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """The decompressed content of bytes [begin, end) of a file, as blocks of some megabytes at most.

    `progress` is called with the number of compressed bytes read since the last call.
    """
    kind = compression_of(path) if begin == 0 else "bzip2"
    with open(path, "rb") as handle:
        handle.seek(begin)
        left = (path.stat().st_size if end is None else end) - begin
        source = _limited(handle, left, progress or (lambda read: None))
        if kind == "plain":
            yield from source
        else:
            where = f"{path}" if end is None else f"{path}, bytes {begin} to {end}, as its index says"
            yield from _decompressed(source, kind, where)


def _limited(handle, left: int, progress: Callable[[int], None]) -> Iterator[bytes]:
    while left > 0 and (chunk := handle.read(min(CHUNK, left))):
        left -= len(chunk)
        progress(len(chunk))
        yield chunk


def _decompressed(source: Iterator[bytes], kind: str, where: str) -> Iterator[bytes]:
    make = bz2.BZ2Decompressor if kind == "bzip2" else lzma.LZMADecompressor
    stream, data = make(), next(source, b"")
    try:
        while True:
            block = stream.decompress(data, CHUNK)
            data = b""
            if block:
                yield block
            if stream.eof:
                data = stream.unused_data or next(source, b"")
                while kind == "xz" and not data.strip(b"\0") and data:  # xz allows zero bytes between streams
                    data = next(source, b"")
                data = data.lstrip(b"\0") if kind == "xz" else data
                if not data:
                    return
                stream = make()
            elif stream.needs_input:
                data = next(source, b"")
                if not data:
                    raise SteleError(
                        f"{where}: {kind} data end in the middle of a stream: a truncated file; fetch it again"
                    )
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise SteleError(f"{where}: damaged {kind} data ({error}); delete the file and fetch it again") from None
