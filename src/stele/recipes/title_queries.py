"""How a transfer set is made of a Wikipedia: its titles as queries (Shi et al., section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from stele.files.strict import Strict, validate


class TitleQueriesRecipe(Strict):
    """Titles of articles, the articles as their positives, and what BM25 finds beside them as negatives."""

    queries: int = Field(ge=1, description="titles drawn; those whose article is not found are dropped afterwards")
    depth: int = Field(ge=2, description="articles that are retrieved for a title")
    negatives: int = Field(
        ge=1, description="drawn of those but the positive, a query; all of them where there are fewer"
    )
    k1: float = Field(ge=0)
    b: float = Field(ge=0, le=1)
    characters: int = Field(ge=1, description="of an article that are kept for training; BM25 reads all of it")
    threads: int = Field(1, ge=1)


def parse_recipe(values: Mapping[str, Any], where: str = "--recipe") -> TitleQueriesRecipe:
    """Validates a recipe; what is wrong is said with the key and what is valid.

    >>> sizes = {"queries": 100, "depth": 1000, "negatives": 10, "characters": 4000}
    >>> parse_recipe({**sizes, "k1": 0.9, "b": 0.4}).threads
    1
    """
    return validate(TitleQueriesRecipe, values, where)
