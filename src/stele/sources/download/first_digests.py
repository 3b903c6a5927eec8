"""Files for which nobody publishes a checksum: the digest of the first download is kept and later ones must agree."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import read_object


def read_pins(path: Path) -> dict[str, str]:
    """Address -> sha256 of its first download; empty where there was none."""
    return read_object(path, advice="delete it to pin the files anew") if path.exists() else {}


def pin(path: Path, digests: Mapping[str, str]) -> None:
    """Keeps the digests of downloads without a published checksum; one that differs from an earlier one is an error."""
    pins = read_pins(path)
    for url, sha256 in digests.items():
        if pins.setdefault(url, sha256) != sha256:
            raise SteleError(
                f"{url}: the file has changed since its first download (sha256 then {pins[url]}, now {sha256}). "
                f"If the new one is wanted, delete {path} and run again"
            )
    if digests:
        atomic_write_json(path, pins)
