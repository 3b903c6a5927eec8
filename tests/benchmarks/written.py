"""Files of the tests, written as a benchmark publishes them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path


def put(path: Path, text: str) -> Path:
    """Writes a file, gzipped when its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode("utf-8")
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def rows(*items: dict) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
