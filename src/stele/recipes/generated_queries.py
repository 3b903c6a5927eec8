"""How queries are generated for the windows of a collection (Shi et al., section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from stele.files.strict import Strict, validate


class GeneratedQueriesRecipe(Strict):
    """Windows that are drawn, and how a sequence-to-sequence model is decoded: by beam search, nothing is sampled."""

    windows: int = Field(ge=1, description="drawn of the collection's; one query is generated for each")
    beams: int = Field(4, ge=1)
    source_length: int = Field(512, ge=3, description="tokens of a window that are read")
    query_length: int = Field(32, ge=1, description="tokens of a query, its end included")
    batch: int = Field(64, ge=1, description="windows decoded together; a query does not depend on it")
    threads: int = Field(1, ge=1, description="of a CPU: they change the last bits")


def parse_recipe(values: Mapping[str, Any], where: str = "--recipe") -> GeneratedQueriesRecipe:
    """Validates a recipe; what is wrong is said with the key and what is valid.

    >>> parse_recipe({"windows": 1000}).beams
    4
    """
    return validate(GeneratedQueriesRecipe, values, where)
