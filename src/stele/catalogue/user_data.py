"""Files that a user brings: finding them in a folder laid out in a way of its own, and telling whether they changed.

The folder is only ever read.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from stele.errors import SteleError
from stele.outputs import digest, sha256

WHOLE = 64 << 20  # bytes up to which a file is digested whole
SAMPLE = 1 << 20  # bytes at either end of a larger one


def listing(folder: Path | str) -> list[str]:
    """The files below a folder, as sorted relative paths; hidden ones apart, symbolic links to folders not followed."""
    folder, found = Path(folder).expanduser(), []
    if not folder.is_dir():
        raise SteleError(f"{folder}: no such folder")
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        below = Path(root).relative_to(folder)
        found += [(below / name).as_posix() for name in files if not name.startswith(".")]
    return sorted(found)


def find(files: Sequence[str], file: Mapping[str, Any], part: str, where: str) -> list[str]:
    """The user's copies of one catalogue file (see `datasets.resolve`) among the paths of a folder.

    First the path that ends most like the catalogue's path or address; a name that other parts of the dataset share
    must have at least its folder in common. Then the patterns of `like`, of which all that match are taken.
    Several equally good ones are an error. `where` names the folder in it.
    """
    wanted = [file["path"], f"{part}/{file['path']}", *(unquote(urlsplit(url).path) for url in _addresses(file))]
    least = 1 if file.get("own_name", True) else 2
    scored = [(max(_common_tail(path, other) for other in wanted), path) for path in files]
    best = max((score for score, _ in scored), default=0)
    if best >= least:
        return [_only([path for score, path in scored if score == best], file["path"], where)]
    patterns = file.get("like", ())
    return [path for path in files if any(fnmatch(PurePosixPath(path).name, pattern) for pattern in patterns)]


def find_unpacked(files: Iterable[str], members: Sequence[str]) -> str | None:
    """The folder (relative; "" the given one itself) below which all `members` of an archive lie already, else None."""
    present = set(files)
    if not members:
        return None
    for path in sorted(present, key=len):
        if path == members[0] or path.endswith(f"/{members[0]}"):
            base = path[: len(path) - len(members[0])]
            if all(base + member in present for member in members):
                return base.rstrip("/")
    return None


def _addresses(file: Mapping[str, Any]) -> list[str]:
    return [*([file["url"]] if "url" in file else []), *file.get("alternatives", ())]


def _common_tail(path: str, other: str) -> int:
    """How many last components two paths share."""
    count = 0
    for mine, theirs in zip(reversed(PurePosixPath(path).parts), reversed(PurePosixPath(other).parts), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def _only(candidates: Sequence[str], name: str, where: str) -> str:
    if len(candidates) > 1:
        raise SteleError(f"{where}: several files could be {name}: {', '.join(candidates[:5])}; keep one of them there")
    return candidates[0]


def sampled_digest(folder: Path | str, files: Iterable[str] | None = None) -> str:
    """A digest of files of a folder (all when None) that is quick to take: names, sizes and contents.

    Files over 64 MB are read at both ends only (1 MiB each). It says whether a user's data changed, wherever they lie.
    """
    folder = Path(folder).expanduser()
    names = listing(folder) if files is None else sorted(files)
    return digest({name: _sampled(folder / name) for name in names})


def _sampled(path: Path) -> list[Any]:
    try:
        size = path.stat().st_size
        if size <= WHOLE:
            return [size, sha256(path)]
        with open(path, "rb") as handle:
            head = handle.read(SAMPLE)
            handle.seek(size - SAMPLE)
            return [size, hashlib.sha256(head + handle.read(SAMPLE)).hexdigest()]
    except OSError as error:
        raise SteleError(f"{path}: cannot be read ({error.strerror})") from None
