"""The recipe of a stand-in that imitates a teacher (world/standins/distilled.py)."""

from __future__ import annotations

from pydantic import Field

from stele.recipes import standin


class Recipe(standin.PairsRecipe):
    """Its own keys."""

    BASES = 2  # whose layers it starts from, and the teacher

    layers: int = Field(ge=1)
    max_length: int = Field(128, ge=8, description="tokens after which its folder says to cut")

    @property
    def own_layers(self) -> int:
        return self.layers
