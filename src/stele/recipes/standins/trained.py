"""The recipe of a stand-in trained from the start (world/standins/trained.py)."""

from __future__ import annotations

from stele.recipes import standin


class Recipe(standin.Recipe):
    """Its own keys."""

    BASES = 0

    tokenizer: standin.Tokenizer
    architecture: standin.Architecture

    @property
    def own_layers(self) -> int:
        return self.architecture.layers
