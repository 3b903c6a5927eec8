"""The mining recipe of ILK (KEPT, section 3.3, equation 2; pairs/methods/ilk.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.pairs._knowledge import KnowledgeRecipe


class Recipe(KnowledgeRecipe):
    """ILK has no keys of its own."""

    method: Literal["ilk"] = "ilk"
    max_pairs: int | None = Field(5_000_000, ge=1)
