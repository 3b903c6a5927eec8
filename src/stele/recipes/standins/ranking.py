"""The recipe of a stand-in that ranks translations (world/standins/ranking.py)."""

from __future__ import annotations

from pydantic import Field

from stele.recipes import standin


class Recipe(standin.PairsRecipe):
    """Its own keys."""

    margin: float = Field(0.3, ge=0)
    max_length: int = Field(256, ge=8, description="tokens after which its folder says to cut")
