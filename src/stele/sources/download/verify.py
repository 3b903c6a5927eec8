"""Check files by size and digests: of the catalogue, a published list, a manifest or the first download."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from stele.artifacts.records import read_record
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.digests import FileFacts
from stele.files.reading import read_object, reading
from stele.progress import track

LARGE = 256 << 20  # bytes from which on checking shows its progress
ALGORITHMS = ("sha256", "sha1", "md5")
_LINE = re.compile(r"^([0-9a-fA-F]{32,64}) [ *](.+)$")  # coreutils' format: digest, a blank, blank or *, name
_LFS = b"version https://git-lfs.github.com/spec/v1"


class Expected(TypedDict, total=False):
    """The known size and digests of a file that is to be fetched; `first`: how many bytes are wanted, if not all."""

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
                for hash_so_far in hashes.values():
                    hash_so_far.update(block)
    except OSError as error:
        raise SteleError(f"{path}: cannot be read ({error.strerror})") from None
    return {name: whole_hash.hexdigest() for name, whole_hash in hashes.items()}


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


def read_pins(path: Path) -> dict[str, str]:
    """Address -> sha256 of its first download; empty where there was none."""
    return read_object(path, advice="delete it to pin the files anew") if path.exists() else {}


def pin(path: Path, digests: Mapping[str, str]) -> None:
    """Keeps the digests of first downloads of files for which nobody publishes a checksum, as later ones must agree.

    Raises SteleError where a file has another digest than at its first download.
    """
    pins = read_pins(path)
    for url, sha256 in digests.items():
        if pins.setdefault(url, sha256) != sha256:
            raise SteleError(
                f"{url}: the file has changed since its first download (sha256 then {pins[url]}, now {sha256}). "
                f"If the new one is wanted, delete {path} and run again"
            )
    if digests:
        atomic_write_json(path, pins)


class Manifest:
    """The digests and counts of generated data, which stand in for the catalogue's.

    It is the record of the job that generated the files: `files` maps an address to sha256 and bytes, `counts` a
    dataset to its numbers, `licensed` a dataset to the files that upstream does not give out freely.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        record = read_record(self.path)
        if not isinstance(record.get("files"), dict):
            raise SteleError(f"{self.path}: not a manifest (no 'files' in it); delete it and run its job again")
        self.files: Mapping[str, FileFacts] = record["files"]
        self._counts: Mapping[str, Mapping[str, Any]] = record.get("counts", {})
        self._licensed: Mapping[str, Mapping[str, FileFacts]] = record.get("licensed", {})

    def expected(self, url: str) -> Expected | None:
        """{"sha256", "bytes"} of an address, None where nothing was generated for it."""
        entry = self.files.get(url)
        return None if entry is None else {"sha256": entry["sha256"], "bytes": entry["bytes"]}

    def licensed(self, dataset: str, name: str) -> Expected | None:
        """{"sha256", "bytes"} of a generated file that lies in a user_data folder, by its path there or its name."""
        entries = self._licensed.get(dataset, {})
        by_name = {path.rpartition("/")[2]: entry for path, entry in entries.items()}
        entry = entries.get(name) or by_name.get(name.rpartition("/")[2])
        return None if entry is None else {"sha256": entry["sha256"], "bytes": entry["bytes"]}

    def count(self, dataset: str, what: str, of: str | None) -> Any:
        """The number of something in a generated dataset (of one language: `of`), None where none was noted."""
        number = self._counts.get(dataset, {}).get(what)
        return number.get(of) if isinstance(number, Mapping) and of is not None else number
