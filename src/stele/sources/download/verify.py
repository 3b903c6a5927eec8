"""Check files by the size and digests in the catalogue, a published list, a manifest or the first download."""

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
    """Known size and digests of a file to fetch; `first` is the number of bytes to fetch, if not all."""

    bytes: int | None
    sha256: str | None
    sha1: str | None
    md5: str | None
    first: int


class Mismatch(SteleError):
    """Error of a file whose size or digest is not the expected one."""


def digests(path: Path | str, algorithms: tuple[str, ...] = ("sha256",)) -> dict[str, str]:
    """Digests of a file by algorithm, in one pass. Raises SteleError if the file cannot be read."""
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
    """Compares a file with `expected` (any of bytes, sha256, sha1, md5); returns its sha256. `name` names it in errors.

    Raises:
        Mismatch: the size or a digest differs; says which, with the expected and the found value.
    """
    path, name = Path(path), name or str(path)
    try:
        size = path.stat().st_size
        pointer = size < 1024 and path.read_bytes().startswith(_LFS)
    except OSError as error:
        link = "a link that leads nowhere: " if path.is_symlink() else ""
        raise SteleError(f"{name}: cannot be read ({link}{error.strerror}); repair or remove it") from None
    if pointer:
        raise Mismatch(f"{name}: is a Git LFS pointer and not the file itself; fetch the file with `git lfs pull`")
    if expected.get("bytes") is not None and size != expected["bytes"]:
        raise Mismatch(f"{name}: expected {expected['bytes']:,} bytes, found {size:,}")
    wanted = [algorithm for algorithm in ALGORITHMS if expected.get(algorithm)]
    actual = digests(path, tuple(dict.fromkeys(["sha256", *wanted])))
    for algorithm in wanted:
        if actual[algorithm] != str(expected[algorithm]).lower():
            raise Mismatch(f"{name}: expected {algorithm} {expected[algorithm]}, found {actual[algorithm]}")
    return actual["sha256"]


def is_checkable(expected: Expected) -> bool:
    """Whether `expected` holds a digest (a size alone does not identify a file)."""
    return any(expected.get(algorithm) for algorithm in ALGORITHMS)


def read_checksums(path: Path | str) -> dict[str, str]:
    """Maps file names to digests, from a list in sha1sum's format. Raises SteleError for a line in another format."""
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


def pin(path: Path, digests: Mapping[str, str]) -> None:
    """Records in `path` the first digests of files without a published checksum; later downloads must agree.

    Raises SteleError if a file's digest differs from that of its first download.
    """
    pins = read_object(path, advice="delete it to pin the files anew") if path.exists() else {}
    for url, sha256 in digests.items():
        if pins.setdefault(url, sha256) != sha256:
            raise SteleError(
                f"{url}: the file has changed since its first download (sha256 then {pins[url]}, now {sha256}). "
                f"To take the new file, delete {path} and run again"
            )
    if digests:
        atomic_write_json(path, pins)


class Manifest:
    """Digests and counts of generated data, used in place of the catalogue's.

    A manifest is the record of the job that generated the files: `files` maps an address to sha256 and bytes, `counts`
    a dataset to its counts, `licensed` a dataset to the files that upstream gives out only under a licence.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        record = read_record(self.path)
        if not isinstance(record.get("files"), dict):
            raise SteleError(f"{self.path}: not a manifest (it has no 'files'); delete it and run its job again")
        self.files: Mapping[str, FileFacts] = record["files"]
        self._counts: Mapping[str, Mapping[str, Any]] = record.get("counts", {})
        self._licensed: Mapping[str, Mapping[str, FileFacts]] = record.get("licensed", {})

    def expected(self, url: str) -> Expected | None:
        """Sha256 and bytes of the file generated for an address; None if there is none."""
        return self.files.get(url)

    def licensed(self, dataset: str, name: str) -> Expected | None:
        """Sha256 and bytes of a generated user_data file, by its path in the folder or its name; None if unknown."""
        entries = self._licensed.get(dataset, {})
        by_name = {path.rpartition("/")[2]: entry for path, entry in entries.items()}
        return entries.get(name) or by_name.get(name.rpartition("/")[2])

    def count(self, dataset: str, what: str, of: str | None) -> Any:
        """Count of `what` in a generated dataset, of one language if `of` names it; None if the manifest has none."""
        number = self._counts.get(dataset, {}).get(what)
        return number.get(of) if isinstance(number, Mapping) and of is not None else number
