"""The looks at a study: which seeds the first one has, and whether a second was taken."""

from __future__ import annotations

from pathlib import Path

from stele.artifacts.results import result_files
from stele.catalogue import read_yaml
from stele.claims.judging.observed import is_chosen
from stele.files.strict import Strict, validate
from stele.papers.table_parts import Seeds

FILE = "looks.yaml"


class Looks(Strict):
    """The two looks at a study: main claims that the first leaves undecided get more seeds and are judged again.

    `looks.yaml` in a folder of results names the seeds of the first look, and is written before those of the second
    are added: `first: {pretraining: [0, 1, 2, 3, 4], finetuning: [0, 1]}`. A kind that is not named has all its seeds.
    Verdicts of both looks follow from the folder alone.
    """

    first: Seeds


def load_looks(folder: Path) -> Looks | None:
    """The looks of a folder of results; None where there was one look, at all that it holds."""
    path = folder / FILE
    return validate(Looks, read_yaml(path), str(path)) if path.is_file() else None


def second_taken(folder: Path) -> bool:
    """Whether a folder of results holds seeds that its first look does not have."""
    looks = load_looks(folder)
    if looks is None:
        return False
    return any(not is_chosen(path.stem, looks.first) for path in result_files(folder, each_seed=True))
