"""The mining recipe of CLHED (KEPT, section 4.7, strategy 4; pairs/methods/clhed.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.pairs import uhs_ilk


class Recipe(uhs_ilk.Recipe):
    """CLHED's keys are those of UHS-ILK."""

    method: Literal["clhed"] = "clhed"
    max_pairs: int | None = Field(500_000, ge=1)
