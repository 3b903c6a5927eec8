"""The recipe of a stand-in that learns from neighbouring sentences (world/standins/windows.py)."""

from __future__ import annotations

from pydantic import Field

from stele.recipes import standin


class Recipe(standin.PairsRecipe):
    """Its own keys."""

    window: int = Field(2, ge=1, description="how many sentences away a partner may be")
