"""The mining recipe of CROP (Wu et al. 2022; pairs/methods/crop.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.pairs._units import UnitRecipe


class Recipe(UnitRecipe):
    """CROP's keys: the window, and those of MSM's units."""

    method: Literal["crop"] = "crop"
    window: int = Field(5, ge=1, description="the neighbour stands at most so many units before or after the anchor")
