"""The mining recipe of UHS-ILK (KEPT, section 4.7, strategy 2; pairs/methods/uhs_ilk.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.pairs._knowledge import KnowledgeRecipe


class Recipe(KnowledgeRecipe):
    """UHS-ILK's keys."""

    method: Literal["uhs_ilk"] = "uhs_ilk"
    passages: int = Field(3, ge=1, description="a page is described by so many of its first passages")
    max_pairs: int | None = Field(5_000_000, ge=1)
