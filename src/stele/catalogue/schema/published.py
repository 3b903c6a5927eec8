"""Schemas of references.tsv (numbers that others published) and of published.yaml (its names and ours)."""

import re
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from stele.catalogue.schema import Facts, choice
from stele.files.strict import Strict, validate

Status = Literal["read", "secondary", "unverified"]


class PublishedScore(Strict):
    """One published number, a fraction, with its source.

    `model` is a hub id or the source's name; `system`, if given, identifies one of its runs. `status` is `read` (at the
    source), `secondary` (as another source reports it) or `unverified`; only numbers that were `read` judge our runs.
    """

    model: str = Field(min_length=1)
    system: str = ""
    benchmark: str = Field(min_length=1)
    subset: str = Field(min_length=1, description="language, or the source's name of an average")
    split: str = Field(min_length=1)
    metric: str = Field(min_length=1)
    value: float = Field(strict=False)  # a text in the table
    tolerance: float = Field(
        0.005, gt=0, strict=False, description="largest difference of a run of the same model on the same data"
    )
    source: str = Field(min_length=1)
    locator: str = Field(min_length=1, description="place in the source: repository@commit and path, page, table")
    model_revision: str = ""
    status: Status
    note: str = ""

    @property
    def judges(self) -> bool:
        return self.status == "read"


class MtebTask(Strict):
    """The task of MTEB that reads the same data at the same revision."""

    task: str
    dataset: str = Field(description="repository of the task's data on the hub")
    revision: str = Field(pattern="^[0-9a-f]{40}$")
    languages: dict[str, str] = Field(
        {},
        description="our code -> MTEB's code (ISO 639-3, script); empty: codes are Belebele's variants and pairs of "
        "them",
    )


class PublishedBenchmark(Strict):
    """Names that sources use for a benchmark and its subsets, and the catalogue's names for them."""

    FILE: ClassVar = "published"

    benchmarks: list[str] = Field(
        [],
        description="names of the benchmark in references.tsv, the preferred one first; default: the key of this entry",
    )
    instructions: dict[str, str] = Field(
        {},
        description="name in `benchmarks` -> the instruction that models were given, if it is not ours",
    )
    unlike: dict[str, list[str]] = Field(
        {},
        description="difference of the sources' evaluation from ours -> the models (hub ids) whose numbers it may "
        "change",
    )
    split: str = Field(description="split that Stele evaluates")
    average: list[str] = Field([], description="the sources' names of the mean over all languages")
    subsets: dict[str, re.Pattern] = Field(
        {},
        description="the sources' names of other means -> regular expression of our codes of the languages in the mean",
    )
    names: Literal["mrtydi", "tatoeba"] | None = Field(
        None, description="field of languages.yaml with the sources' names of languages, besides our codes"
    )
    suffix: str = Field("", description="text after such a name in the sources")
    mteb: MtebTask | None = None

    def rank(self, name: str) -> int:
        """Position of a name of references.tsv among the names of this benchmark; 0 for another name."""
        return self.benchmarks.index(name) if name in self.benchmarks else 0

    @model_validator(mode="after")
    def _known(self) -> Self:
        if strange := self.instructions.keys() - set(self.benchmarks):
            raise ValueError(f"`instructions` has {', '.join(sorted(strange))}, which `benchmarks` does not list")
        return self


# --- reference_sources.yaml: the files of others' repositories that references.tsv is renewed from --------------------
class Mean(Strict):
    """Mean over the subsets whose whole name matches `pattern`, if there are `count` of them."""

    pattern: str = ".*"
    count: int = Field(gt=0)


class ResultFile(Strict):
    """Splits to read from a result file, and its metrics: name in the file -> name here."""

    benchmark: str
    splits: list[str] = Field(min_length=1)
    metrics: dict[str, str] = Field(min_length=1)


class Task(ResultFile):
    """Result file of a task of MTEB."""

    subsets: list[str] | None = Field(None, description="subsets that get a row of their own; null: all")
    means: dict[str, Mean] = Field({}, description="name of a mean -> the subsets that it averages")
    note: str = ""


class Suspect(Strict):
    """Numbers of a task that are excluded, by those of model, version of MTEB and subset that are given."""

    task: str
    model: str | None = None
    version: str | None = Field(None, description="beginning of MTEB's version: 2.20 includes 2.20.0")
    subset: str | None = None
    why: str


class Repository(Strict):
    """A repository of published results: the folder of its clone, its source and the tolerance of its numbers."""

    clone: str = Field(description="name of the repository's folder among the clones")
    repository: str
    source: str
    tolerance: float = Field(gt=0)


class Mteb(Repository):
    """Repository of MTEB's results, results/{model}/{revision}/{task}.json."""

    tasks: dict[str, Task]
    suspect: list[Suspect] = Field([], description="numbers that are known to be wrong and are left out")


class SameEngine(Strict):
    """Tolerance and note for runs that need no encoding."""

    tolerance: float = Field(gt=0)
    note: str


class Pyserini(Repository):
    """Repository of Pyserini's two-click reproductions."""

    note: str
    files: dict[str, ResultFile]
    models: dict[str, str] = Field({}, description="run -> hub id of its encoder")
    same_engine: dict[str, SameEngine] = Field(
        {}, description="run -> tolerance and note, for runs that need no encoding"
    )


class ReferenceSources(Strict):
    FILE: ClassVar = "reference_sources"

    mteb: Mteb
    pyserini: Pyserini


# --- tables/render/bibliography.yaml: what a reader cites -------------------------------------------------------------
class Entry(Strict):
    """A BibTeX entry; its fields are BibTeX's own, but `authors` and `editors` are lists of "Family, Given"."""

    type: Literal["article", "book", "inproceedings", "misc"]
    authors: list[str] | None = Field(None, min_length=1)
    editors: list[str] | None = Field(None, min_length=1)
    title: str
    year: int = Field(ge=1900, le=2100)
    booktitle: str | None = None
    journal: str | None = None
    publisher: str | None = None
    howpublished: str | None = None
    volume: int | None = None
    pages: str | None = None
    url: str | None = Field(None, pattern="^https?://")

    @model_validator(mode="after")
    def _someone_wrote_it(self) -> Self:
        if self.authors is None and self.editors is None:
            raise ValueError("want `authors` or `editors`")
        return self


class Bibliography(Strict):
    """BibTeX entries by key, and the key of the entry for each benchmark."""

    benchmarks: dict[str, str]
    entries: dict[str, Entry]


def check_bibliography(values: Facts, where: str) -> None:
    """Checks the bibliography, and that it has every entry that it cites. Raises SteleError with the key at fault."""
    validate(Bibliography, values, where)
    for name in values["benchmarks"]:
        choice(values["benchmarks"], name, values["entries"], where, ["benchmarks"])
