"""The recipe of a stand-in that learns from translations (world/standins/translation.py)."""

from __future__ import annotations

from stele.recipes import standin


class Recipe(standin.PairsRecipe):
    """It has no keys of its own."""
