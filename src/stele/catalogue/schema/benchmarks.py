"""Schemas of benchmarks.yaml, training_sets.yaml and analyzers.yaml."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from stele.errors import SteleError
from stele.files.strict import Strict
from stele.recipes.encoding import SomeEncoding
from stele.recipes.search import Windows


def metric_parts(name: str) -> tuple[str, str]:
    """Splits a metric's name into (its module in evaluation/metrics, cut). Raises SteleError for an invalid cut.

    >>> metric_parts("mrr@100"), metric_parts("r@2kt"), metric_parts("accuracy")
    (('mrr', '100'), ('r_kt', '2kt'), ('accuracy', ''))
    """
    base, at, cut = name.partition("@")
    if not re.fullmatch(r"(@[1-9][0-9]{0,8}(kt)?)?", at + cut):
        raise SteleError(
            f"metric {name!r}: after @ comes a number (at most 9 digits), as in mrr@100, "
            "or thousands of tokens, as in r@2kt"
        )
    return (f"{base}_kt" if cut.endswith("kt") else base), cut


def _metric(name: str) -> str:
    try:
        metric_parts(name)
    except SteleError as error:
        raise ValueError(str(error)) from None
    return name


Metric = Annotated[str, AfterValidator(_metric)]


class Large(Strict):
    """Encoding of large models, in a protocol that has a special one for them."""

    layer: int = Field(ge=1, description="whose hidden states are read")
    of: int = Field(ge=1, description="layers that a model has, or the one that it was trained from, to be large")
    pooling: Literal["cls", "mean"]


class Benchmark(Strict):
    """A benchmark, or a test collection that is only counted."""

    FILE: ClassVar = "benchmarks"

    title: str
    languages: list[str] = Field(description="as the tables show them")
    pivot: str | None = Field(None, description="what each language is paired with, where `languages` are no pairs")
    whole: bool = Field(False, description="real data are evaluated in all their languages, not in `languages` alone")
    data: list[str] = Field(description="datasets that are read to retrieve")
    judgments: list[str] = Field(description="datasets that are read to score")
    documents_in: list[str] | None = Field(
        None, description="languages of the parts that are always read, all of them; None: those that are evaluated"
    )
    collections_of: str | None = Field(
        None, description="the benchmark by whose name its collections are encoded, once for all that name the same"
    )
    same_questions: bool = Field(
        False, description="its languages ask the same questions, so that drawing them apart says nothing of their mean"
    )
    ignore_identical_ids: bool | None = Field(
        None, description="a document of its query's own id is no hit of it; None: as its layout has it"
    )
    metrics: list[Metric] = Field(min_length=1)
    depth: int | None = Field(None, ge=1, description="passages that are kept of each query's ranking")
    encoding: SomeEncoding | None = Field(None, description="the protocol's, for models that bring none of their own")
    pooling: Literal["cls", "mean"] | None = Field(
        None, description="in place of that of models whose folder states none"
    )
    large: Large | None = None
    windows: Windows | None = Field(None, description="how its documents are encoded; None: each passage is one text")
    lengths_in: str | None = Field(None, description="the model in whose tokens its documents' lengths are counted")
    module: str | None = Field(None, description="the file of stele/benchmarks that reads it; default: its own name")
    training_questions: list[str] = Field(
        [], description="what `trained_on` of a model or a training set calls the questions that it was made with"
    )


class Mined(Strict):
    """Collection from which hard negatives for a training set's questions are mined."""

    corpus: list[str] = Field(min_length=1, description="datasets: the collection that the passages are from")
    depth: int = Field(ge=1, description="how many a question are kept")


class TrainingSet(Strict):
    """A set of fine-tuning examples."""

    FILE: ClassVar = "training_sets"

    module: str = Field(description="the file of stele/benchmarks that reads it")
    data: list[str] = Field([], description="datasets that it is, or that it is made of")
    languages: list[str] | None = None
    made: Literal["title_queries", "generate_queries"] | None = Field(
        None, description="the rule that makes it, by its recipe of the set's name; None: the datasets are the set"
    )
    mined: Mined | None = None

    @model_validator(mode="after")
    def _is_of_something(self) -> TrainingSet:
        if not (self.data or self.made == "generate_queries"):
            raise ValueError("`data` is empty; want the datasets of which this training set is made")
        return self


class Analyzer(Strict):
    """The analyzer that turns texts of a language into terms for BM25."""

    FILE: ClassVar = "analyzers"

    stemmer: str | None = Field(None, description="a stemmer of Snowball, by its name there")
    stopwords: str | None = Field(None, description="a list of bm25s, by the end of its name there")
    elided: list[str] | None = Field(None, description="articles that lose their vowel and stand before an apostrophe")
    accents: Literal[False] | None = Field(None, description="false: they are taken off the stems")
    grams: int | None = Field(None, ge=1, description="runs of `scripts` are cut into pieces of this many letters")
    scripts: list[str] | None = Field(None, description="by their Unicode names")
