"""Outputs appear whole or not at all: written under a temporary name in the same folder, then moved.

A folder is replaced, or taken for files under way, only where nothing in it is anybody else's (`stele.files.ours`).
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Required, TypedDict

from stele.errors import SteleError
from stele.files.ours import MARK, RECORD, check_claimable, check_replaceable, is_claimed, mark_of

WHOLE = 64 << 20  # bytes up to which a file is only ever digested whole
BLOCKS = 256  # parts of a larger one
RECORDS = frozenset({RECORD, MARK})
PART, OLD = "stele-part", "stele-old"  # endings of temporary names: what is new, what was there before


def _left(path: Path, kind: str) -> list[Path]:
    """What killed processes left beside `path` under their temporary names of a kind (PART, OLD)."""
    if not Path("/proc/self").exists():
        return []  # who lives cannot be seen
    files = path.parent.glob(f".{glob.escape(path.name)}.*.{kind}")
    owners = {left: left.name.removesuffix(f".{kind}").rpartition(".")[2] for left in files}
    return [left for left, pid in owners.items() if pid.isdigit() and not Path(f"/proc/{pid}").exists()]


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    """A name for this process beside `path`; what killed processes left under such names is removed."""
    for left in _left(path, PART):
        _remove(left)
    return path.with_name(f".{path.name}.{os.getpid()}.{PART}")


def _restore(path: Path) -> None:
    """Puts a folder back that a killed process had moved aside; one whose successor is in place is removed."""
    for left in _left(path, OLD):
        if path.exists():
            _remove(left)
        else:
            os.rename(left, path)


def _sync(path: Path) -> None:
    """Makes the bytes of a file, or the names in a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_tree(folder: Path) -> None:
    """`_sync` of all that a folder holds, and of itself."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() or path.is_dir():
            _sync(path)
    _sync(folder)


def _is_unfinished(folder: Path) -> bool:
    """Whether a folder lies in one that this process still writes: `atomic_directory` syncs it as a whole."""
    return any(part.startswith(".") and part.endswith(f".{os.getpid()}.{PART}") for part in folder.parts)


@contextmanager
def atomic_file(path: Path | str, mode: str = "w", **open_options: Any) -> Iterator[IO]:
    """Opens a temporary file beside `path` and moves it there when the block ends without an error."""
    path = Path(path)
    if path.is_dir():
        raise SteleError(f"{path}: a folder, want the name of a file to write")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    if "b" not in mode:
        open_options.setdefault("encoding", "utf-8")
        open_options.setdefault("newline", "\n")
    try:
        with open(temporary, mode, **open_options) as handle:
            yield handle
        synced_here = not _is_unfinished(path.parent)
        if synced_here:
            _sync(temporary)
        os.replace(temporary, path)
        if synced_here:
            _sync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: Path | str, job: str) -> Iterator[Path]:
    """Yields an empty folder beside `path` and swaps it in, synced, when the block ends without an error.

    What was at `path` before stays until then; SteleError where it is not all this job's (`check_replaceable`). A
    process that is killed in the middle of the swap leaves it under another name, and the next use puts it back.
    """
    path = check_replaceable(Path(path), job)
    path.parent.mkdir(parents=True, exist_ok=True)
    _restore(path)
    temporary = _temporary(path)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        swap_in(temporary, path, job)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def swap_in(new: Path, path: Path, job: str) -> None:
    """Puts a finished folder, marked and synced, in the place of what was at `path`; SteleError as `check_replaceable`.

    Both are on one file system.
    """
    path, old = check_replaceable(path, job), path.with_name(f".{path.name}.{os.getpid()}.{OLD}")
    atomic_write_json(new / MARK, mark_of(new, job))
    synced_here = not _is_unfinished(path.parent)
    if synced_here:
        _sync_tree(new)
    try:
        if path.exists():
            os.rename(path, old)
        os.rename(new, path)
        if synced_here:
            _sync(path.parent)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        if old.exists() and not path.exists():
            os.rename(old, path)  # the second rename failed


def claim(folder: Path, job: str, known: Callable[[str], object] = lambda name: None) -> None:
    """Takes a folder for a job's files under way: a new or an empty one, or one where all names are `known` ones.

    From then on everything in it is this job's. SteleError for another folder.
    """
    if not is_claimed(folder, job):
        check_claimable(folder, job, known)
        atomic_write_json(folder / MARK, {"job": job})


def drop_claimed(folder: Path, job: str) -> None:
    """Removes a folder that the job has claimed; any other stays."""
    if is_claimed(folder, job):
        shutil.rmtree(folder, ignore_errors=True)


def atomic_write_json(path: Path | str, value: Any) -> None:
    """Writes JSON with sorted keys, so that equal values are equal bytes."""
    with atomic_file(path) as handle:
        json.dump(value, handle, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
        handle.write("\n")


def sha256(path: Path | str) -> str:
    """The sha256 of a file's bytes, in hex."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def digest(value: Any) -> str:
    """A short digest (16 hex digits) of a JSON value, independent of key order."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


class FileFacts(TypedDict, total=False):
    """What a record holds of one file, `blocks` where it is large; records of datasets say more."""

    bytes: Required[int]
    sha256: Required[str]
    blocks: list[str]


def file_facts(path: Path | str) -> FileFacts:
    """What a record holds of one file: `bytes`, `sha256` and, of a large one, its `blocks`."""
    return {"bytes": os.stat(path).st_size, "sha256": sha256(path), **block_digests(path)}


def block_digests(path: Path | str) -> dict[str, list[str]]:
    """`blocks`, for a file over WHOLE bytes: the digests of its BLOCKS equal parts (the last one is shorter).

    By them some parts of the file can be checked without reading it whole.
    """
    size = os.stat(path).st_size
    return {"blocks": [block_digest(path, size, number) for number in range(BLOCKS)]} if size > WHOLE else {}


def block_digest(path: Path | str, size: int, number: int) -> str:
    """The digest (16 hex digits) of one of the BLOCKS parts of a file of `size` bytes."""
    length = -(-size // BLOCKS)
    left, hashed = min(length, size - number * length), hashlib.sha256()
    with open(path, "rb") as handle:
        handle.seek(number * length)
        while left > 0 and (part := handle.read(min(left, 1 << 20))):
            hashed.update(part)
            left -= len(part)
    return hashed.hexdigest()[:16]


def folder_facts(folder: Path | str) -> dict[str, FileFacts]:
    """`file_facts` of all files of a folder by relative path, the records apart."""
    return {name: file_facts(path) for name, path in _files(Path(folder), RECORDS)}


def _files(folder: Path, skip: Collection[str]) -> Iterator[tuple[str, Path]]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in skip)
    return ((path.relative_to(folder).as_posix(), path) for path in files)


def facts_digest(facts: Mapping[str, FileFacts]) -> str:
    """A digest of some files (names and bytes) by their facts."""
    return digest({name: facts_of_file["sha256"] for name, facts_of_file in facts.items()})


def files_digest(folder: Path | str, skip: Collection[str] = RECORDS) -> str:
    """A digest of all files of a folder (relative names and bytes), the records apart."""
    return digest({name: sha256(path) for name, path in _files(Path(folder), skip)})
