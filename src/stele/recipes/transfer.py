"""Recipes of transfer sets, whose queries are a Wikipedia's titles or generated (Shi et al., section 4.2)."""

from typing import ClassVar

from pydantic import Field

from stele.recipes import Recipe, plan_key


class TitleQueriesRecipe(Recipe):
    """Recipe of title queries: articles' titles, with the article as positive and BM25's other hits as negatives."""

    queries: int = Field(ge=1, description="most titles to draw; those whose article BM25 does not find are dropped")
    depth: int = Field(ge=2, description="number of articles that BM25 retrieves for a title")
    negatives: int = Field(
        ge=1, description="most hard negatives of a query, drawn from its retrieved articles without the positive"
    )
    k1: float = Field(ge=0, description="BM25's parameter k1")
    b: float = Field(ge=0, le=1, description="BM25's parameter b")
    characters: int = Field(
        ge=1,
        description="most characters of an article, from its beginning, that are kept for training; BM25 reads the "
        "whole article",
    )
    threads: int = Field(1, ge=1, description="CPU threads")


class GeneratedQueriesRecipe(Recipe):
    """Recipe of generated queries: draws windows, and decodes a sequence-to-sequence model by beam search."""

    CATALOGUE_KEYS: ClassVar = ("generator", "collections")
    generator: str | None = plan_key(
        description="recipe of `generators` whose models write the queries; required in recipes.yaml"
    )
    collections: dict[str, str] = plan_key(
        {}, description="language -> the benchmark whose documents get queries; required in recipes.yaml"
    )

    windows: int = Field(
        ge=1, description="most windows that are drawn from the collection's documents; one query is generated for each"
    )
    beams: int = Field(4, ge=1, description="number of beams in beam search")
    source_length: int = Field(
        512, ge=3, description="most tokens of a window, special ones included; longer windows are cut"
    )
    query_length: int = Field(32, ge=1, description="most tokens of a generated query, its end token included")
    batch: int = Field(64, ge=1, description="windows decoded together; has no effect on the queries")
    threads: int = Field(1, ge=1, description="CPU threads; another number changes the last bits of the result")
