"""Reads files from outside; any problem raises one SteleError that names the file.

A reader reports the errors that it knows. This module reports what a parser finds beyond them, such as damage.
"""

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Self

from stele.errors import SteleError, exhausted

LARGEST_SEED = 2**32 - 1  # of numpy's and torch's generators
AGAIN = "get it again"
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # an escape that may be half a character


@contextmanager
def reading(where: Path | str | Callable[[], str], kind: str = "file", advice: str = AGAIN) -> Iterator[None]:
    """Turns any exception in the block into a SteleError that says the file, the problem and what to do.

    `where` names the file, or is a function that does so when an error occurs (with the line); `kind` is what the file
    should be. SteleErrors of the block, and errors of a full disk or memory, pass unchanged.

    >>> with reading("run.txt", "TREC run"):
    ...     [][0]
    Traceback (most recent call last):
    stele.errors.SteleError: run.txt: not a readable TREC run (IndexError: list index out of range); get it again
    """
    try:
        yield
    except SteleError:
        raise
    except Exception as error:
        if exhausted(error):
            raise
        raise SteleError(f"{where() if callable(where) else where}: {fault(error, kind)}; {advice}") from error


def fault(error: Exception, kind: str = "file") -> str:
    """Says in words why a file cannot be read as a `kind`, given the error of the parser or the file system."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "a folder, want a file"
    if isinstance(error, _DAMAGE):
        return f"the compressed file is cut short or damaged ({error})"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 ({error})"
    if isinstance(error, OSError) and error.errno is not None:
        return f"cannot be read ({error.strerror})"
    if isinstance(error, json.JSONDecodeError):
        place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        return f"not a readable {kind}: not JSON ({error.msg.removesuffix(' at')}, {place})"
    if isinstance(error, KeyTwice):
        return str(error)
    if isinstance(error, RecursionError):
        return f"not a readable {kind} (nested too deeply)"
    message = " ".join(str(error).split())[:300]
    return f"not a readable {kind} ({type(error).__name__}{f': {message}' if message else ''})"


def parse_json(text: str | bytes, where: Path | str, kind: str = "file", advice: str = AGAIN) -> Any:
    """Parses JSON. Raises SteleError, beginning with `where`, also for a repeated key and half a surrogate pair.

    >>> parse_json('{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    stele.errors.SteleError: x.json: key 'a' appears twice in one object; get it again
    """
    with reading(where, kind, advice):
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        value = DECODER.decode(text)
        check_surrogates(text, value)
        return value


JsonObject = dict[str, Any]  # a file's content, not yet validated


def read_json(path: Path | str, kind: str = "file", advice: str = AGAIN) -> Any:
    """Reads the JSON file `path`. Raises SteleError if it is missing or not valid JSON."""
    with reading(path, kind, advice):
        content = Path(path).read_bytes()
    return parse_json(content, path, kind, advice)


def read_object(path: Path | str, kind: str = "file", advice: str = AGAIN) -> JsonObject:
    """Reads the JSON file `path`. Raises SteleError as `read_json`, and if it does not hold one object."""
    return _object(read_json(path, kind, advice), path, kind, advice)


def read_state(path: Path | str) -> Any:
    """Reads the saved progress of a job, None before the first save. Raises SteleError for a damaged file."""
    return read_json(path, "state of a job", "remove it and run again") if Path(path).exists() else None


def read_note(path: Path | str, **kinds: type) -> JsonObject:
    """Reads a JSON object that another process wrote; `kinds` are the types of optional keys.

    Returns {} for a missing file, one that is just being written, damage, a value of a wrong type, and no object.
    """
    try:
        note = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(note, dict) or any(not isinstance(note.get(key, kind()), kind) for key, kind in kinds.items()):
        return {}
    return note


def parse_object(text: str, where: str) -> JsonObject:
    """Parses a command's argument as one JSON object. Raises SteleError, beginning with `where`, for other text."""
    what = "argument", "give a JSON object"
    return _object(parse_json(text, where, *what), where, *what)


def _object(value: Any, where: Path | str, kind: str, advice: str) -> JsonObject:
    if not isinstance(value, dict):
        raise SteleError(f"{where}: not a readable {kind} (want an object, found {type(value).__name__}); {advice}")
    return value


def check_surrogates(text: str, value: Any) -> None:
    """Raises ValueError if the value of a JSON text has half a surrogate pair, which UTF-8 cannot encode."""
    if _SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode("utf-8")


def _once(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Builds an object of a JSON text from its pairs. Raises KeyTwice for a repeated key."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        again = next(name for number, name in enumerate(names) if name in names[:number])
        raise KeyTwice(f"key {again!r} appears twice in one object")
    return values


class KeyTwice(ValueError):
    """Error for an object of a JSON text with a repeated key."""


DECODER = json.JSONDecoder(object_pairs_hook=_once)
LONGEST = 1 << 20  # bytes of a long name or of extended headers, which are read at once
_READ_AT_ONCE = b"xgXLK"  # the types of such headers


class TarMember(tarfile.TarInfo):
    """A member of a tar archive; `tarfile.open(..., tarinfo=TarMember)` reports every damaged header.

    tarfile takes a damaged header, or a missing block of zeros, for the end of the archive: a tar that was cut after a
    member then looks complete. This class raises ReadError for both, and for sizes that no member can have.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        member = super().frombuf(buf, encoding, errors)
        if member.size < 0 or (member.type in _READ_AT_ONCE and member.size > LONGEST):
            raise tarfile.ReadError(f"a header of {member.size:,} bytes")
        return member

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            member = super().fromtarfile(archive)
        except tarfile.EOFHeaderError:
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"cut short, or a damaged header ({error})") from None
        if member.size < 0 or archive.offset <= member.offset:
            raise tarfile.ReadError(f"member {member.name!r} has a negative size")
        return member


# --- files that may be compressed (gzip, bzip2, xz, zstd), opened for their unpacked bytes ----------------------------
BLOCK = 1 << 20  # bytes read at once
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def _open_zstd(packed: IO[bytes]) -> IO[bytes]:
    import pyarrow

    return io.BufferedReader(pyarrow.input_stream(packed, compression="zstd"), BLOCK)


class _Streams(io.RawIOBase):
    """Unpacked bytes of a file with several compressed streams in a row, as parallel compressors write them.

    The standard library's file objects take a later stream that is damaged at its beginning for the end of the file.
    """

    def __init__(self, packed: IO[bytes], make: Callable[[], Any], padding: bytes) -> None:
        self._packed, self._make, self._padding = packed, make, padding
        self._stream, self._data, self._position = make(), b"", 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return hasattr(self._packed, "seek")

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Seeks backward by unpacking from the start again, forward by reading."""
        if whence == io.SEEK_END:
            raise io.UnsupportedOperation("the end is known once all is unpacked")
        target = offset + (self._position if whence == io.SEEK_CUR else 0)
        if target < self._position:
            self._packed.seek(0)
            self._stream, self._data, self._position = self._make(), b"", 0
        while self._position < target and self.read(min(BLOCK, target - self._position)):
            pass
        return self._position

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._stream.eof:
                data = self._stream.unused_data.lstrip(self._padding)
                while not data and (block := self._packed.read(io.DEFAULT_BUFFER_SIZE)):
                    data = block.lstrip(self._padding)
                if not data:
                    return 0
                self._stream, self._data = self._make(), data
            elif self._stream.needs_input and not self._data:
                self._data = self._packed.read(io.DEFAULT_BUFFER_SIZE)
                if not self._data:
                    raise EOFError("the file ends within a stream")
            try:
                unpacked = self._stream.decompress(self._data, len(buffer))
            except OSError as error:  # bzip2's name for damage
                raise zlib.error(error) from None
            self._data = b""
            if unpacked:
                buffer[: len(unpacked)] = unpacked
                self._position += len(unpacked)
                return len(unpacked)


def open_bz2(packed: IO[bytes]) -> IO[bytes]:
    """Opens a bzip2 file for the unpacked bytes of all its streams; to read it once, `packed` needs only `read`."""
    return io.BufferedReader(_Streams(packed, bz2.BZ2Decompressor, padding=b""), BLOCK)


def open_xz(packed: IO[bytes]) -> IO[bytes]:
    """Opens an xz file for the unpacked bytes of all its streams, between which there may be zero bytes."""
    return io.BufferedReader(_Streams(packed, lzma.LZMADecompressor, padding=b"\0"), BLOCK)


_OPEN: dict[bytes, Callable[[IO[bytes]], IO[bytes]]] = {  # by the first bytes
    b"\x1f\x8b": gzip.open,
    b"BZh": open_bz2,
    b"\xfd7zXZ\0": open_xz,
    b"\x28\xb5\x2f\xfd": _open_zstd,
    b"\x50\x2a\x4d\x18": _open_zstd,  # the sizes that pzstd writes before each of its frames
}


def unpacked(packed: IO[bytes]) -> IO[bytes]:
    """Unpacks an open file if its first bytes are those of a compressed format, else returns the file itself."""
    start = packed.peek(6)
    return next((opener(packed) for magic, opener in _OPEN.items() if start.startswith(magic)), packed)


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file, compressed or not, for its unpacked bytes; leaves errors to the caller."""
    with open(path, "rb") as raw, unpacked(raw) as handle:
        yield handle


@contextmanager
def open_unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file as `open_bytes`. Raises SteleError for a missing or damaged file."""
    with reading(path), open_bytes(path) as handle:
        yield handle


def unpacked_blocks(path: Path) -> Iterator[bytes]:
    """Yields the unpacked bytes of a file in blocks. Raises SteleError for a missing or damaged file."""
    with open_unpacked(path) as handle:
        yield from iter(lambda: handle.read(BLOCK), b"")


def refuse_pipe(path: Path) -> None:
    """Raises SteleError for a pipe, as `<(zcat run.gz)`: it cannot be read twice."""
    if path.is_fifo():
        raise SteleError(f"{path}: a pipe, which can be read only once; write it to a file first")


def refuse_closed(error: OSError) -> None:
    """Raises SteleError for a folder that cannot be read, which os.walk leaves out in silence; for its `onerror`."""
    root_only = Path(error.filename).name == "lost+found"  # readable only by root
    if not root_only and not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise SteleError(f"{error.filename}: cannot be looked into ({error.strerror}); mend that, or move it elsewhere")


def find_file(folder: Path, patterns: Sequence[str], wanted: str) -> Path:
    """Finds the only file in or below `folder` that matches the first pattern with a match.

    Raises SteleError, which says what is `wanted` and lists the files, if none or several fit.
    """
    fitting = next(filter(None, (sorted(folder.rglob(pattern)) for pattern in patterns)), [])
    if len(fitting) != 1:
        names = sorted(path.name for path in fitting or folder.rglob("*"))
        found = f"several: {', '.join(names)}" if fitting else f"none (files: {', '.join(names)})"
        raise SteleError(f"{folder}: want one file of {wanted}, found {found if folder.is_dir() else 'no such folder'}")
    return fitting[0]


def plain_name(name: str) -> str:
    """Removes the suffix of a compression from a file's name.

    >>> plain_name("de/a.txt.xz"), plain_name("de.jsonl")
    ('de/a.txt', 'de.jsonl')
    """
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
