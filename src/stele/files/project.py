"""The workflow's files beside the package: in its clone, or as a wheel carries them."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from stele.errors import SteleError

FILES = ("Snakefile", "config.yaml", "config.schema.json", "envs", "paper_tables", "profiles", "workflow")
CARRIED = "share/stele/Snakefile"  # as setup.py places it


def project_folder() -> Path:
    """The folder of the Snakefile that this package belongs to.

    Raises SteleError where the package lies alone.
    """
    for snakefile in _places():
        if snakefile.is_file():
            return snakefile.resolve().parent
    folder = Path(__file__).parents[3]
    raise SteleError(f"{folder} has no Snakefile, and the package carries none: install it with pip, or make a clone")


def _places() -> Iterator[Path]:
    """In a clone; where pip installed it; where `pip install --target` moved it."""
    above = Path(__file__).parents
    yield above[3] / "Snakefile"
    with suppress(importlib.metadata.PackageNotFoundError):
        files = importlib.metadata.files("stele") or ()
        yield from (Path(file.locate()) for file in files if file.as_posix().endswith(CARRIED))
    yield above[2] / CARRIED
