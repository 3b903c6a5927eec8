"""The beginning of a file, of which no more is fetched than is read.

Of an address it is fetched in pieces that double up to 8 MiB, each a range request that goes on where the last one (of
this process or of one that was killed) ended. The whole file's digest cannot be checked; what was read has one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Protocol

from stele.sources.download.fetch import Absent, Failed, Policy, fetch_first
from stele.sources.download.partial_download import Version, size

SMALLEST, LARGEST = 1 << 14, 8 << 20  # bytes of a piece


class Pieces(Protocol):
    """Where bytes come from: `whole` is how many there are in all, as far as known."""

    whole: int | None

    def at(self, position: int, number: int) -> bytes: ...


class Local:
    """A file in a folder."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise Absent(f"{path}: no such file")
        self.path, self.whole = path, path.stat().st_size

    def at(self, position: int, number: int) -> bytes:
        try:
            with open(self.path, "rb") as handle:
                handle.seek(position)
                return handle.read(number)
        except OSError as error:
            raise Failed(f"{self.path}: cannot be read ({error.strerror})") from None


class Remote:
    """A file at an address; `part` holds what has been fetched of it."""

    def __init__(self, url: str, part: Path, policy: Policy) -> None:
        self.url, self.part, self.policy = url, part, policy
        self.piece, self.whole = SMALLEST, None
        self.version: Version | None = None
        self.read = hashlib.sha256()  # of what was read so far

    def at(self, position: int, number: int) -> bytes:
        while size(self.part) < position + number or self.version is None:
            if self.whole is not None and size(self.part) >= self.whole:
                break
            wanted = max(position + number, min(size(self.part) + self.piece, self.whole or 1 << 62))
            version = fetch_first(self.url, self.part, wanted, self.policy)
            if not self._goes_on(version, position):
                raise Failed(f"{self.url}: has changed while it was read; run again")
            self.version, self.whole = version, version.total
            self.piece = min(2 * self.piece, LARGEST)
        with open(self.part, "rb") as handle:
            handle.seek(position)
            data = handle.read(number)
        self.read.update(data)
        return data

    def _goes_on(self, version: Version, position: int) -> bool:
        """Whether what was read up to `position` is of this version: by what the server says, else byte by byte."""
        if self.version is None or self.version.is_proven_by(version):
            return True
        with open(self.part, "rb") as handle:
            again = hashlib.sha256(handle.read(position))
        return not self.version.differs(version) and again.digest() == self.read.digest()


class Beginning:
    """A file object that is read from its start, once; knows how many bytes were read, and their digest."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces, self._position, self._digest = pieces, 0, hashlib.sha256()

    def read(self, number: int) -> bytes:
        data = self._pieces.at(self._position, number)
        self._position += len(data)
        self._digest.update(data)
        return data

    def facts(self) -> dict[str, Any]:
        """What was read: `bytes`, their `sha256`, and `of_bytes` in the whole file."""
        return {"bytes": self._position, "sha256": self._digest.hexdigest(), "of_bytes": self._pieces.whole}
