"""The two looks at a study: main claims that the first leaves undecided get more seeds, and are then judged again.

`looks.yaml` in a folder of results names the seeds of the first look; it is written before those of the second are
added. Verdicts of both looks follow from the folder alone, so nothing has to be remembered between them.
"""

from __future__ import annotations

from pathlib import Path

from stele.artifacts.results import result_files
from stele.catalogue import read_yaml
from stele.evidence.observed import chosen
from stele.files.strict import Strict, validate
from stele.papers.table_parts import Seeds

FILE = "looks.yaml"


class Looks(Strict):
    """`first: {pretraining: [0, 1, 2, 3, 4], finetuning: [0, 1]}`; a kind that is not named has all its seeds."""

    first: Seeds


def load_looks(folder: Path) -> Looks | None:
    """The looks of a folder of results; None where there was one look, at all that it holds."""
    path = folder / FILE
    return validate(Looks, read_yaml(path), str(path)) if path.is_file() else None


def second_taken(folder: Path) -> bool:
    """Whether a folder of results holds seeds beside those of its first look."""
    looks = load_looks(folder)
    return looks is not None and any(
        not chosen(path.stem, looks.first) for path in result_files(folder, each_seed=True)
    )
