"""Digests of files and values, and a cache of the digests of a user's files.

The cache identifies a file by size, times and inode: its bytes cannot change without a new change time (ctime), which
no program can set back. A file that was changed within the last seconds is not cached, since another change could have
the same time.
"""

import hashlib
import json
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Required, TypedDict

from stele.errors import SteleError
from stele.files.atomic import MARK, RECORD, atomic_write_json
from stele.files.reading import read_note
from stele.progress import bar, track

WHOLE = 64 << 20  # bytes; smaller files are always digested whole
BLOCKS = 256  # parts of a larger one
RECORDS = frozenset({RECORD, MARK})
SETTLED = 2.0  # seconds after which file times distinguish two changes


def sha256(path: Path | str) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def digest(value: Any) -> str:
    """Short digest (16 hex digits) of a JSON value, independent of key order."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def text_number(text: str) -> int:
    """Number of 64 bits by which equal texts are recognised in little memory."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


class FileFacts(TypedDict, total=False):
    """Facts about one file in a record, with `blocks` for a large file; records of datasets hold more facts."""

    bytes: Required[int]
    sha256: Required[str]
    blocks: list[str]


def file_facts(path: Path | str) -> FileFacts:
    """Facts about one file for a record: `bytes`, `sha256` and, for a large file, its `blocks`."""
    return {"bytes": os.stat(path).st_size, "sha256": sha256(path), **block_digests(path)}


def block_digests(path: Path | str) -> dict[str, list[str]]:
    """Returns {"blocks": digests of the BLOCKS equal parts} of a file over WHOLE bytes (the last is shorter), else {}.

    With them a job can check some parts of the file without reading all of it.
    """
    size = os.stat(path).st_size
    return {"blocks": [block_digest(path, size, number) for number in range(BLOCKS)]} if size > WHOLE else {}


def block_digest(path: Path | str, size: int, number: int) -> str:
    """Digest (16 hex digits) of part `number`, from 0, of the BLOCKS parts of a file of `size` bytes."""
    length = -(-size // BLOCKS)
    left, hashed = min(length, size - number * length), hashlib.sha256()
    with open(path, "rb") as handle:
        handle.seek(number * length)
        while left > 0 and (part := handle.read(min(left, 1 << 20))):
            hashed.update(part)
            left -= len(part)
    return hashed.hexdigest()[:16]


def folder_facts(folder: Path | str) -> dict[str, FileFacts]:
    """Returns the `file_facts` of all files of a folder except its record and mark, by relative path."""
    return {name: file_facts(path) for name, path in _files(Path(folder), RECORDS)}


def _files(folder: Path, skip: Collection[str]) -> Iterator[tuple[str, Path]]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in skip)
    return ((path.relative_to(folder).as_posix(), path) for path in files)


def facts_digest(facts: Mapping[str, FileFacts], layout: Any = None) -> str:
    """Digest of files' names and contents, from their facts, and of their layout."""
    files = {name: facts_of_file["sha256"] for name, facts_of_file in facts.items()}
    return digest([files, layout] if layout else files)


def files_digest(folder: Path | str, skip: Collection[str] = RECORDS) -> str:
    """Digest of the relative names and bytes of all files of a folder, except files named in `skip`."""
    return digest({name: sha256(path) for name, path in _files(Path(folder), skip)})


def file_digests(paths: Iterable[Path], memory: Path) -> dict[Path, list]:
    """Path -> [bytes, sha256] of each file; files that are unchanged by the cache `memory` (a JSON file) are not read.

    New digests are added to the cache if it can be written. Raises SteleError for a file that cannot be read.
    """
    known = read_note(memory)
    digests: dict[Path, list] = {}
    new: dict[str, list] = {}
    for path in paths:
        _check_name(path)
        try:
            status = path.stat()
            identity = _identity(status)
            name = os.path.abspath(path)
            cached = known.get(name)
            if not (isinstance(cached, list) and cached[:-1] == identity):
                cached = [*identity, _sha256(path, status.st_size)]
                if time.time() - status.st_ctime > SETTLED:
                    new[name] = cached
        except OSError as error:
            raise SteleError(f"{path}: cannot be read ({error.strerror})") from None
        digests[path] = [status.st_size, cached[-1]]
    if new:
        _remember(memory, new)
    return digests


def folder_digest(folder: Path, names: Sequence[str], memory: Path) -> str:
    """Digest of the sizes and digests of the files `names` below a folder, cached in `memory` as one entry.

    A later call only looks up size and times of each file: the 831,721 files of FIRE are read once. Raises SteleError
    for a file that cannot be read.
    """
    whole, newest = hashlib.sha256(), 0.0
    try:
        for name in names:
            _check_name(name)
            status = os.stat(f"{folder}/{name}")
            whole.update(f"{name} {_identity(status)}\n".encode())
            newest = max(newest, status.st_ctime)
        identity = whole.hexdigest()
        cached = read_note(memory).get(os.path.abspath(folder))
        if isinstance(cached, list) and cached[:-1] == [len(names), identity]:
            return cached[-1]
        facts = {
            name: [os.stat(path := f"{folder}/{name}").st_size, sha256(path)]
            for name in track(names, len(names), f"digest {folder}")
        }
    except OSError as error:
        raise SteleError(f"{error.filename}: cannot be read ({error.strerror})") from None
    if time.time() - newest > SETTLED:
        _remember(memory, {os.path.abspath(folder): [len(names), identity, digest(facts)]})
    return digest(facts)


def _check_name(name: Path | str) -> None:
    """Raises SteleError for a file name that is not UTF-8, as old archives leave them: no record could hold it."""
    try:
        str(name).encode("utf-8")
    except UnicodeEncodeError:
        raise SteleError(f"{str(name)!a}: the name of a file is not UTF-8; rename it") from None


def _identity(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]  # st_dev differs from host to host


def _remember(memory: Path, new: dict[str, list]) -> None:
    with suppress(OSError):  # a read-only folder: the file is read again next time
        remembered = {name: cached for name, cached in read_note(memory).items() if os.path.exists(name)}
        atomic_write_json(memory, remembered | new)


def _sha256(path: Path, size: int) -> str:
    if size <= WHOLE:
        return sha256(path)
    with bar(None, f"digest {path.name}, {size / 1e9:.1f} GB, this once"):
        return sha256(path)
