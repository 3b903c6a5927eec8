"""Recipes of transfer sets, whose queries are a Wikipedia's titles or generated (Shi et al., section 4.2)."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from stele.recipes import Recipe, plan_key


class TitleQueriesRecipe(Recipe):
    """Recipe of title queries: articles' titles, with the article as positive and BM25's other hits as negatives."""

    queries: int = Field(ge=1, description="titles drawn; those whose article is not found are dropped afterwards")
    depth: int = Field(ge=2, description="articles that are retrieved for a title")
    negatives: int = Field(
        ge=1, description="drawn of those but the positive, a query; all of them where there are fewer"
    )
    k1: float = Field(ge=0)
    b: float = Field(ge=0, le=1)
    characters: int = Field(ge=1, description="of an article that are kept for training; BM25 reads all of it")
    threads: int = Field(1, ge=1)


class GeneratedQueriesRecipe(Recipe):
    """Recipe of generated queries: draws windows, and decodes a sequence-to-sequence model by beam search."""

    CATALOGUE_KEYS: ClassVar = ("generator", "collections")
    generator: str | None = plan_key(description="a recipe of `generators`")
    collections: dict[str, str] = plan_key({}, description="language -> the benchmark for whose documents it writes")

    windows: int = Field(ge=1, description="drawn of the collection's; one query is generated for each")
    beams: int = Field(4, ge=1)
    source_length: int = Field(512, ge=3, description="tokens of a window that are read")
    query_length: int = Field(32, ge=1, description="tokens of a query, its end included")
    batch: int = Field(64, ge=1, description="windows decoded together; a query does not depend on it")
    threads: int = Field(1, ge=1, description="of a CPU: they change the last bits")
