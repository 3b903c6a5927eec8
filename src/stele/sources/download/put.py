"""Fetched files, put under names from outside: nothing is written over, nothing outside the folder."""

from __future__ import annotations

from pathlib import Path

from stele.errors import SteleError
from stele.files.atomic import link_or_copy
from stele.files.paths import inside


def put(source: Path, folder: Path, name: str, where: str) -> Path:
    """A second name for the same bytes where the file system can, else a copy; `where` names who gave the name."""
    target = _free(folder, name, where)
    link_or_copy(source, target)
    return target


def link(source: Path, folder: Path, name: str, where: str) -> Path:
    """A symbolic link to a user's own file, which is never changed."""
    target = _free(folder, name, where)
    target.symlink_to(source.resolve())
    return target


def _free(folder: Path, name: str, where: str) -> Path:
    target = inside(folder, name, where)
    if target.is_symlink() or target.exists():
        raise SteleError(f"{where}: two files would become {name}; keep one of them")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target
