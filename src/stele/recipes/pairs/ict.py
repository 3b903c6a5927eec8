"""The mining recipe of ICT (Lee et al. 2019; pairs/methods/ict.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.mining import MiningRecipe


class Recipe(MiningRecipe):
    """ICT's keys. Lengths in tokens count the two special ones that training adds."""

    method: Literal["ict"] = "ict"
    query_tokens: int = Field(64, ge=3, description="most tokens of a query")
    block_tokens: int = Field(288, ge=3, description="most tokens of a block, its query included")
    removal: float = Field(0.9, ge=0, le=1, description="probability that the query is taken out of its block")
    queries_per_block: int = Field(1, ge=1, description="different sentences of a block that are queries")
