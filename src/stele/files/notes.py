"""Small JSON files that one process writes and another may read at any moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_note(path: Path) -> dict[str, Any]:
    """The object in a file; empty where there is no file, or none that can be read as an object at this moment."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
