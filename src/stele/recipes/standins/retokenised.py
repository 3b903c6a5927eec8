"""The recipe of a stand-in with another's layers and a tokenizer of its own (world/standins/retokenised.py)."""

from __future__ import annotations

from stele.recipes import standin


class Recipe(standin.Recipe):
    """Its own keys."""

    tokenizer: standin.Tokenizer
