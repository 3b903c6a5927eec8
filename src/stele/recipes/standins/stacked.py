"""The recipe of a stand-in of more layers (world/standins/stacked.py)."""

from __future__ import annotations

from pydantic import Field

from stele.recipes import standin


class Recipe(standin.Recipe):
    """Its own keys."""

    layers: int = Field(ge=1)

    @property
    def own_layers(self) -> int:
        return self.layers
