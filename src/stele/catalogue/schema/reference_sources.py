"""reference_sources.yaml: the files of others' repositories that references.tsv is renewed from."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from stele.files.strict import Strict


class Mean(Strict):
    """The mean over the subsets whose whole name matches, where all of them are there."""

    pattern: str = ".*"
    count: int = Field(gt=0)


class File(Strict):
    """What is read of a file: splits, and metrics by their names there and here."""

    benchmark: str
    splits: list[str] = Field(min_length=1)
    metrics: dict[str, str] = Field(min_length=1)


class Task(File):
    """A task's result file of MTEB."""

    subsets: list[str] | None = Field(None, description="those that have a row; none: all")
    means: dict[str, Mean] = Field({}, description="name of a mean -> what it is over")
    note: str = ""


class Suspect(Strict):
    """Numbers of a task that stay out: of a model, a version of MTEB, a subset; those of all that are given."""

    task: str
    model: str | None = None
    version: str | None = Field(None, description="of MTEB, how it begins: 2.20 is 2.20.0 as well")
    subset: str | None = None
    why: str


class Repository(Strict):
    """A repository, the folder of its clone, and what its numbers are."""

    clone: str = Field(description="the name of its folder among the clones")
    repository: str
    source: str
    tolerance: float = Field(gt=0)


class Mteb(Repository):
    """MTEB's results, results/{model}/{revision}/{task}.json."""

    tasks: dict[str, Task]
    suspect: list[Suspect] = Field([], description="what stays out")


class SameEngine(Strict):
    """Of runs that need no encoding."""

    tolerance: float = Field(gt=0)
    note: str


class Pyserini(Repository):
    """Pyserini's two-click reproductions."""

    note: str
    files: dict[str, File]
    models: dict[str, str] = Field({}, description="run -> the hub id of its encoder")
    same_engine: dict[str, SameEngine] = Field({}, description="run -> what holds for it")


class ReferenceSources(Strict):
    """The whole file."""

    FILE: ClassVar = "reference_sources"

    mteb: Mteb
    pyserini: Pyserini
