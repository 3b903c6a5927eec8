"""references.tsv: numbers that others published; published.yaml: how its benchmarks and languages are called here."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from stele.files.strict import Strict


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None
    return text


Pattern = Annotated[str, AfterValidator(_pattern)]
Status = Literal["read", "secondary", "unverified"]


class PublishedScore(Strict):
    """One published number, a fraction, with its source.

    model is a hub id, or what its source calls it; system, where there is one, says which of a model's runs it is.
    status: `read` at its source, or `secondary` (another's report of it), or `unverified`; only the first judges.
    """

    model: str = Field(min_length=1)
    system: str = ""
    benchmark: str = Field(min_length=1)
    subset: str = Field(min_length=1, description="a language, or what its source calls an average")
    split: str = Field(min_length=1)
    metric: str = Field(min_length=1)
    value: float
    tolerance: float = Field(0.005, gt=0, description="how far a run of the same thing may be from it")
    source: str = Field(min_length=1)
    locator: str = Field(min_length=1, description="where in the source: repository@commit and path, page, table")
    model_revision: str = ""
    status: Status
    note: str = ""

    @property
    def judges(self) -> bool:
        return self.status == "read"


class MtebTask(Strict):
    """The task of MTEB that reads the same data at the same revision."""

    task: str
    dataset: str = Field(description="its repository on the hub")
    revision: str = Field(pattern="^[0-9a-f]{40}$")
    languages: dict[str, str] = Field(
        {}, description="our code -> MTEB's (ISO 639-3, script); none: Belebele's variants, pairs of them"
    )


class PublishedBenchmark(Strict):
    """How the sources' words for a benchmark relate to ours."""

    FILE: ClassVar = "published"

    benchmarks: list[str] = Field(
        [], description="as references.tsv calls it, the first one before others; default: as it is called here"
    )
    instructions: dict[str, str] = Field(
        {},
        description="of these names, what was asked of models that take an instruction, where it is another than ours",
    )
    unlike: dict[str, list[str]] = Field(
        {}, description="what its sources do otherwise than is done here -> the models whose numbers that may move"
    )
    split: str = Field(description="the split that is evaluated here")
    average: list[str] = Field([], description="what sources call the mean over all languages")
    subsets: dict[str, Pattern] = Field(
        {}, description="what sources call other means -> our codes that they are over, as a regular expression"
    )
    names: Literal["mrtydi", "tatoeba"] | None = Field(
        None, description="a field of languages.yaml, names of languages"
    )
    suffix: str = Field("", description="what follows such a name")
    mteb: MtebTask | None = None

    def rank(self, name: str) -> int:
        """The place of a benchmark of references.tsv among those that are of this one."""
        return self.benchmarks.index(name) if name in self.benchmarks else 0

    @model_validator(mode="after")
    def _known(self) -> PublishedBenchmark:
        if strange := self.instructions.keys() - set(self.benchmarks):
            raise ValueError(f"`instructions` of {', '.join(sorted(strange))}, which `benchmarks` does not name")
        return self
