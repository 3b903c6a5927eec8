"""Records as small as the tests need them."""

from __future__ import annotations

from pathlib import Path

from tests.sealed import write_sealed


def record(folder: Path, **facts) -> Path:
    write_sealed(folder / "record.json", {"job": "x", "labels": [], **facts})
    return folder / "record.json"
