"""What downloads leave on disk, for themselves and for a later process.

A file under way is `{target}.part`, with `{target}.part.json` saying which version of the file it is a piece of. A
finished one is the target, with `{target}.published.json` where the server gave a digest: it still vouches for the file
when another run goes on.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from stele.files.atomic import atomic_write_json
from stele.files.reading import read_note
from stele.sources.download.verify import Expected, Mismatch, check

if TYPE_CHECKING:
    from stele.sources.download.fetch import Fetched


class Version(TypedDict):
    """Which version of a file a piece is of: its address, ETag or date, and whole size, None where unknown."""

    url: str
    validator: str | None
    total: int | None


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def note_version(part: Path, url: str, validator: str | None, total: int | None) -> None:
    atomic_write_json(_beside(part, "json"), {"url": url, "validator": validator, "total": total})


def version_of(part: Path, url: str) -> Version | None:
    """What is known of the version that `part` is a piece of; None where it is unknown or of another address."""
    note = read_note(_beside(part, "json"))
    return note if note.get("url") == url else None


def discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _beside(part, "json").unlink(missing_ok=True)


def finish(part: Path, target: Path, published: Expected) -> None:
    """Moves a complete file into place; what the server published about it is there before."""
    note = _beside(target, "published.json")
    if published:
        atomic_write_json(note, published)
    else:
        note.unlink(missing_ok=True)
    with open(part, "rb") as handle:
        os.fsync(handle.fileno())
    os.replace(part, target)
    _beside(part, "json").unlink(missing_ok=True)


def finished(target: Path, expected: Expected) -> Fetched | None:
    """What `fetch` returned for a file that an earlier run fetched; None where there is none. A wrong one goes."""
    if not target.is_file():
        return None
    published = read_note(_beside(target, "published.json"))
    try:
        sha256 = check(target, {**published, **expected})
    except Mismatch:
        target.unlink()
        return None
    return {"sha256": sha256, "bytes": target.stat().st_size, "published": published}


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f"{path.name}.{suffix}")
