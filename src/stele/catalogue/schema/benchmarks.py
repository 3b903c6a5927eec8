"""Schemas of benchmarks.yaml, training_sets.yaml and analyzers.yaml."""

import re
from typing import Annotated, ClassVar, Literal, Self

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

    layer: int = Field(ge=1, description="layer whose hidden states are read, counted from 1")
    of: int = Field(
        ge=1, description="number of layers of a large model, or of the checkpoint that it was trained from"
    )
    pooling: Literal["cls", "mean"]


class Benchmark(Strict):
    """A benchmark, or a test collection that is only counted."""

    FILE: ClassVar = "benchmarks"

    title: str
    languages: list[str] = Field(description="languages or language pairs, in the order of the tables")
    pivot: str | None = Field(
        None, description="language with which each language is paired, if `languages` are not pairs"
    )
    whole: bool = Field(
        False, description="real data are evaluated in all languages of the dataset, not only in `languages`"
    )
    data: list[str] = Field(description="datasets that retrieval reads")
    judgments: list[str] = Field(description="datasets that scoring reads")
    documents_in: list[str] | None = Field(
        None, description="languages whose documents are always read, all of them; null: the evaluated languages"
    )
    collections_of: str | None = Field(
        None,
        description="benchmark with the same collections: each is encoded once, under this name, for all benchmarks "
        "that give it",
    )
    same_questions: bool = Field(
        False,
        description="true: all languages ask the same questions, so resampling each language apart does not give "
        "the interval of their average",
    )
    ignore_identical_ids: bool | None = Field(
        None, description="removes the document with the query's own id from the hits; null: as its layout defines"
    )
    metrics: list[Metric] = Field(min_length=1, description="official metrics, as NAME or NAME@CUT")
    depth: int | None = Field(None, ge=1, description="number of passages that are kept of each query's ranking")
    encoding: SomeEncoding | None = Field(
        None,
        description="encoding of the protocol, for models that state none; null: models are trained for the task "
        "and do not encode its texts",
    )
    pooling: Literal["cls", "mean"] | None = Field(
        None,
        description="pooling of the protocol, which replaces that of config.yaml and models.yaml, except for models "
        "that were trained for retrieval",
    )
    large: Large | None = Field(None, description="encoding for large models, if the protocol has one")
    windows: Windows | None = Field(
        None, description="windows in which documents are encoded; null: each passage is one text"
    )
    lengths_in: str | None = Field(None, description="model in whose tokens the lengths of the documents are counted")
    module: str | None = Field(
        None, description="module of stele/benchmarks that reads the data; default: the benchmark's name"
    )
    training_questions: list[str] = Field(
        [],
        description="names of the benchmark's questions in `trained_on` of models and in training_sets.yaml; tables "
        "mark models that saw them",
    )


class Mined(Strict):
    """Collection from which hard negatives for a training set's questions are mined."""

    corpus: list[str] = Field(min_length=1, description="datasets of the collection that contains the passages")
    depth: int = Field(ge=1, description="number of hard negatives per question")


class TrainingSet(Strict):
    FILE: ClassVar = "training_sets"

    module: str = Field(description="module of stele/benchmarks that reads the data")
    data: list[str] = Field([], description="datasets that form the training set or from which it is made")
    languages: list[str] | None = Field(None, description="languages of the training set")
    made: Literal["title_queries", "generate_queries"] | None = Field(
        None,
        description="rule that makes the training set, by the recipe of the same name; null: the datasets are the "
        "training set",
    )
    mined: Mined | None = Field(None, description="collection from which hard negatives are mined")

    @model_validator(mode="after")
    def _is_of_something(self) -> Self:
        if not (self.data or self.made == "generate_queries"):
            raise ValueError("`data` is empty; want the datasets of which this training set is made")
        return self


class Analyzer(Strict):
    """The analyzer that turns texts of a language into terms for BM25."""

    FILE: ClassVar = "analyzers"

    stemmer: str | None = Field(None, description="name of a Snowball stemmer")
    stopwords: str | None = Field(None, description="bm25s's list of stop words, without the prefix STOPWORDS_")
    elided: list[str] | None = Field(
        None, description="articles without their vowel that stand before an apostrophe, e.g. l in l'homme"
    )
    accents: Literal[False] | None = Field(None, description="false: accents are removed from the stems")
    grams: int | None = Field(
        None, ge=1, description="number of letters of the overlapping pieces into which words in `scripts` are cut"
    )
    scripts: list[str] | None = Field(None, description="scripts without spaces, by their Unicode names")
