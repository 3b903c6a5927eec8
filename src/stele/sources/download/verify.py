"""Checking files: size and digests against what is expected, and reading the lists of checksums that sites publish."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TypedDict

from stele.errors import SteleError
from stele.files.reading import reading
from stele.progress import track

LARGE = 256 << 20  # bytes from which on checking shows its progress
ALGORITHMS = ("sha256", "sha1", "md5")
_LINE = re.compile(r"^([0-9a-fA-F]{32,64}) [ *](.+)$")  # coreutils' format: digest, a blank, blank or *, name
_LFS = b"version https://git-lfs.github.com/spec/v1"


class Expected(TypedDict, total=False):
    """What is known of a file before it is there: its size, digests; `first`: only so many bytes of it are wanted."""

    bytes: int | None
    sha256: str | None
    sha1: str | None
    md5: str | None
    first: int


class Mismatch(SteleError):
    """A file is not the one that was expected."""


def digests(path: Path | str, algorithms: tuple[str, ...] = ("sha256",)) -> dict[str, str]:
    """The digests of a file by several algorithms, read once."""
    hashes = {name: hashlib.new(name, usedforsecurity=False) for name in algorithms}
    path = Path(path)
    try:
        with open(path, "rb") as handle:
            blocks = iter(lambda: handle.read(1 << 20), b"")
            size = path.stat().st_size
            for block in track(blocks, size >> 20, f"check {path.name}", unit="MB") if size > LARGE else blocks:
                for one in hashes.values():
                    one.update(block)
    except OSError as error:
        raise SteleError(f"{path}: cannot be read ({error.strerror})") from None
    return {name: one.hexdigest() for name, one in hashes.items()}


def check(path: Path | str, expected: Expected, name: str | None = None) -> str:
    """Compares a file's size and digests with those in `expected` (bytes, sha256, sha1, md5: any); returns its sha256.

    Raises:
        Mismatch: says which of them differs, what was expected and what was found.
    """
    path, name = Path(path), name or str(path)
    try:
        size = path.stat().st_size
        pointer = size < 1024 and path.read_bytes().startswith(_LFS)
    except OSError as error:
        link = "a link that leads nowhere: " if path.is_symlink() else ""
        raise SteleError(f"{name}: cannot be read ({link}{error.strerror}); repair or remove it") from None
    if pointer:
        raise Mismatch(f"{name}: a Git LFS pointer and not the file itself; fetch it with `git lfs pull`")
    if expected.get("bytes") is not None and size != expected["bytes"]:
        raise Mismatch(f"{name}: expected {expected['bytes']:,} bytes, found {size:,}")
    wanted = [algorithm for algorithm in ALGORITHMS if expected.get(algorithm)]
    actual = digests(path, tuple(dict.fromkeys(["sha256", *wanted])))
    for algorithm in wanted:
        if actual[algorithm] != str(expected[algorithm]).lower():
            raise Mismatch(f"{name}: expected {algorithm} {expected[algorithm]}, found {actual[algorithm]}")
    return actual["sha256"]


def is_checkable(expected: Expected) -> bool:
    """Whether `expected` holds a digest (a size alone proves little)."""
    return any(expected.get(algorithm) for algorithm in ALGORITHMS)


def read_checksums(path: Path | str) -> dict[str, str]:
    """File name -> digest out of a list as sha1sum and its like write it (dumps.wikimedia.org's *-sha1sums.txt)."""
    digests: dict[str, str] = {}
    with reading(path):
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        if not (match := _LINE.match(line)):
            raise SteleError(f"{path}, line {number}: want 'DIGEST  NAME', found {line[:80]!r}")
        digests[match[2].rpartition("/")[2]] = match[1].lower()
    return digests
