"""Read the beginning of a local or remote file, no further than needed."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from stele.sources.download.fetch import fetch_first, size
from stele.sources.download.http import Failed, NotFound, Policy, Version

SMALLEST, LARGEST = 1 << 14, 8 << 20  # bytes of a piece


class Beginning(ABC):
    """File object that is read once from its start, and counts and digests the bytes read.

    `whole` is the size of the whole file in bytes, None if unknown.
    """

    whole: int | None = None

    def __init__(self) -> None:
        self._position, self._digest = 0, hashlib.sha256()

    def read(self, number: int) -> bytes:
        data = self._next(number)
        self._position += len(data)
        self._digest.update(data)
        return data

    def facts(self) -> dict[str, Any]:
        """Number of bytes read, their `sha256`, and `of_bytes`, the size of the whole file (None if unknown)."""
        return {"bytes": self._position, "sha256": self._digest.hexdigest(), "of_bytes": self.whole}

    @abstractmethod
    def _next(self, number: int) -> bytes:
        """Reads at most `number` bytes from the current position."""


class LocalBeginning(Beginning):
    """Beginning of a local file. Raises NotFound if there is no such file, and Failed if it cannot be read."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        if not path.is_file():
            raise NotFound(f"{path}: no such file")
        self.path, self.whole = path, path.stat().st_size

    def _next(self, number: int) -> bytes:
        try:
            with open(self.path, "rb") as handle:
                handle.seek(self._position)
                return handle.read(number)
        except OSError as error:
            raise Failed(f"{self.path}: cannot be read ({error.strerror})") from None


class RemoteBeginning(Beginning):
    """Beginning of a file at an address; the file `part` holds the bytes fetched so far.

    It is fetched in pieces whose size doubles up to 8 MiB. Each range request continues where the last one ended, even
    one of a killed process. Only the bytes read have a digest; the digest of the whole file cannot be checked.
    """

    def __init__(self, url: str, part: Path, policy: Policy) -> None:
        super().__init__()
        self.url, self.part, self.policy = url, part, policy
        self.piece = SMALLEST
        self.version: Version | None = None

    def _next(self, number: int) -> bytes:
        needed = self._position + number
        while size(self.part) < needed or self.version is None:
            if self.whole is not None and size(self.part) >= self.whole:
                break
            wanted = max(needed, min(size(self.part) + self.piece, self.whole or 1 << 62))
            version = fetch_first(self.url, self.part, wanted, self.policy)
            if not self._goes_on(version):
                raise Failed(f"{self.url}: the server's file has changed while it was read; run again")
            self.version, self.whole = version, version.total
            self.piece = min(2 * self.piece, LARGEST)
        with open(self.part, "rb") as handle:
            handle.seek(self._position)
            return handle.read(number)

    def _goes_on(self, version: Version) -> bool:
        """Whether the bytes read so far belong to `version`, by the server's headers or else by their digest."""
        if self.version is None or self.version.is_proven_by(version):
            return True
        with open(self.part, "rb") as handle:
            again = hashlib.sha256(handle.read(self._position))
        return not self.version.differs(version) and again.digest() == self._digest.digest()
