"""The recipe of a stand-in that predicts spans of words (world/standins/spans.py)."""

from __future__ import annotations

from stele.recipes import standin


class Recipe(standin.Recipe):
    """It has no keys of its own."""
