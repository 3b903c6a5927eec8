"""Digests of files that are not ours, taken once: what they were is remembered by size, times and inode.

Other bytes cannot come into a file without a new time of change, which no program can set back. A file that was changed
within the last seconds is not remembered: a second change could bear the same time.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from stele.errors import SteleError
from stele.files.atomic import WHOLE, atomic_write_json, digest, sha256
from stele.files.reading import read_note
from stele.progress import bar, track

SETTLED = 2.0  # seconds after which a file system's times tell a change from the one before


def file_digests(paths: Iterable[Path], memory: Path) -> dict[Path, list]:
    """[bytes, sha256] of each file; those that `memory` (JSON) knows unchanged are not read.

    What is read is remembered, where that can be written. A file that cannot be read is an error that names it.
    """
    known = read_note(memory)
    digests: dict[Path, list] = {}
    new: dict[str, list] = {}
    for path in paths:
        try:
            status = path.stat()
            identity = _identity(status)
            name = os.path.abspath(path)
            held = known.get(name)
            if not (isinstance(held, list) and held[:-1] == identity):
                held = [*identity, _sha256(path, status.st_size)]
                if time.time() - max(status.st_mtime, status.st_ctime) > SETTLED:
                    new[name] = held
        except OSError as error:
            raise SteleError(f"{path}: cannot be read ({error.strerror})") from None
        digests[path] = [status.st_size, held[-1]]
    if new:
        _remember(memory, new)
    return digests


def folder_digest(folder: Path, names: Sequence[str], memory: Path) -> str:
    """The digest of what `file_digests` says of many files of one folder (`names`, below it), remembered as one.

    To know them unchanged costs a look at each and no list of them all: 831,721 files (FIRE) are read once.
    """
    whole, newest = hashlib.sha256(), 0.0
    try:
        for name in names:
            status = os.stat(f"{folder}/{name}")
            whole.update(f"{name} {_identity(status)}\n".encode())
            newest = max(newest, status.st_mtime, status.st_ctime)
        identity = whole.hexdigest()
        held = read_note(memory).get(os.path.abspath(folder))
        if isinstance(held, list) and held[:-1] == [len(names), identity]:
            return held[-1]
        facts = {
            name: [os.stat(path := f"{folder}/{name}").st_size, sha256(path)]
            for name in track(names, len(names), f"digest {folder}")
        }
    except OSError as error:
        raise SteleError(f"{error.filename}: cannot be read ({error.strerror})") from None
    if time.time() - newest > SETTLED:
        _remember(memory, {os.path.abspath(folder): [len(names), identity, digest(facts)]})
    return digest(facts)


def _identity(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev]


def _remember(memory: Path, new: dict[str, list]) -> None:
    with suppress(OSError):  # a folder that is not to be written to: read again the next time
        there = {name: held for name, held in read_note(memory).items() if os.path.exists(name)}
        atomic_write_json(memory, there | new)


def _sha256(path: Path, size: int) -> str:
    if size <= WHOLE:
        return sha256(path)
    with bar(None, f"digest {path.name}, {size / 1e9:.1f} GB, this once"):
        return sha256(path)
