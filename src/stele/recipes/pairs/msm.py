"""The mining recipe of MSM's documents (pairs/methods/msm.py)."""

from __future__ import annotations

from typing import Literal

from stele.recipes.pairs._units import UnitRecipe


class Recipe(UnitRecipe):
    """MSM has no keys but those of its units."""

    method: Literal["msm"] = "msm"
