"""The mining recipe of CLK (KEPT, section 3.3, equation 3; pairs/methods/clk.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.pairs._knowledge import KnowledgeRecipe


class Recipe(KnowledgeRecipe):
    """CLK's keys."""

    method: Literal["clk"] = "clk"
    passages: int = Field(3, ge=1, description="so many passages of a page are its segments")
    pairing: Literal["all", "aligned", "one"] = Field("all", description="which passages of two pages are joined")
    max_pairs: int | None = Field(500_000, ge=1)
