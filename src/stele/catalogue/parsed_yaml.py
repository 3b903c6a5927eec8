"""Values of YAML files, kept as JSON in the folder of a run: reading that takes a tenth of the time of parsing.

They are kept by the text of the file and the code that reads it, so that another text or code finds none.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from stele.files.atomic import atomic_file

FOLDER = Path(".snakemake/stele-yaml")  # no file where there is no .snakemake: outside a run's folder


def path_of(text: str) -> Path:
    """Where the values of a text are kept."""
    return FOLDER / f"{_sha256(_code() + text)}.json"


def stored(text: str) -> Any:
    """The values of a text; None where none are kept, or their file is damaged."""
    with suppress(OSError, ValueError):
        checksum, _, body = path_of(text).read_text(encoding="utf-8").partition("\n")
        if checksum == _sha256(body):
            return json.loads(body)
    return None


def store(text: str, values: Any) -> None:
    """Keeps the values of a text, where JSON has them as they are (it has no dates, and no numbers as keys)."""
    with suppress(OSError, ValueError, TypeError):
        body = json.dumps(values)
        if FOLDER.parent.is_dir() and json.loads(body) == values:
            with atomic_file(path_of(text)) as handle:
                handle.write(f"{_sha256(body)}\n{body}")


@cache
def _code() -> str:
    """What makes values of a text: PyYAML, by its version, and `read_yaml`."""
    return yaml.__version__ + Path(__file__).with_name("__init__.py").read_text(encoding="utf-8")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
