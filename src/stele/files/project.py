"""The workflow's files beside the package: in its clone, or as a wheel carries them."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from stele.errors import SteleError

FILES = ("Snakefile", "config.yaml", "config.schema.json", "envs", "paper_tables", "profiles", "workflow")
CARRIED = "share/stele/Snakefile"  # as setup.py places it


def project_folder() -> Path:
    """The folder of the Snakefile that this package belongs to.

    Raises SteleError where the package lies alone.
    """
    above = Path(__file__).parents
    recorded = [file for file in importlib.metadata.files("stele") or () if file.as_posix().endswith(CARRIED)]
    # in a clone; where pip installed it; where `pip install --target` moved it
    for snakefile in (above[3] / "Snakefile", *(Path(file.locate()) for file in recorded), above[2] / CARRIED):
        if snakefile.is_file():
            return snakefile.resolve().parent
    raise SteleError(f"{above[3]} has no Snakefile, and the package carries none: install it with pip, or make a clone")
