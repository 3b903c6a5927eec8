"""Records as small as the tests need them."""

from __future__ import annotations

import json
from pathlib import Path


def record(folder: Path, **facts) -> Path:
    (folder / "record.json").write_text(json.dumps({"job": "x", "labels": [], **facts}))
    return folder / "record.json"
