"""What a search by matching terms may say: BM25's k1 and b, given or chosen; how lengths are kept; expansion by RM3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from stele.files.strict import Strict, validate
from stele.recipes.topics import TopicField

K1 = Annotated[float, Field(ge=0)]
B = Annotated[float, Field(ge=0, le=1)]


class Rm3(Strict):
    """Pseudo-relevance feedback by RM3 (Abdul-Jaleel et al. 2004) as Anserini has it, with its default values."""

    documents: int = Field(10, ge=1, description="best ones of BM25 that terms are taken from")
    terms: int = Field(10, ge=1, description="that are kept of each of them, and of all together")
    original_weight: float = Field(0.5, ge=0, le=1, description="of the query as it was")
    filter: Literal["ascii", "none"] = Field(
        "ascii", description="ascii: only terms of a-z and 0-9 are added, as Anserini did until 2021"
    )


class Bm25(Strict):
    """BM25 with parameters that are given."""

    k1: K1
    b: B
    lengths: Literal["exact", "lucene"] = Field("exact", description="lucene: rounded down as its one byte keeps them")
    field: TopicField | None = Field(None, description="of a topic, that is the query; None: the collection's own")


class Tuning(Strict):
    """BM25 with the k1 and b that are best on the questions of a split."""

    split: Literal["train", "dev"]
    k1: list[K1] = Field(min_length=1)
    b: list[B] = Field(min_length=1)


class Search(Bm25):
    """What a job is given: BM25, and the model's expansion where it has one."""

    rm3: Rm3 | None = None


def parse_recipe(values: Mapping[str, Any], where: str = "--recipe") -> Search | Tuning:
    """Validates a recipe; one with a `split` is a tuning.

    >>> parse_recipe({"k1": 0.9, "b": 0.4, "rm3": {}}).rm3.terms
    10
    """
    return validate(Tuning if "split" in values else Search, values, where)
