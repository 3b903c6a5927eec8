"""The recipe of a stand-in for an encoder that is a decoder (world/standins/causal.py)."""

from __future__ import annotations

from typing import ClassVar

from stele.recipes import standin
from stele.recipes.standins import contrastive


class Recipe(contrastive.Recipe):
    """As of the others, with a tokenizer of its own."""

    BASES: ClassVar[int] = 0

    tokenizer: standin.Tokenizer
    architecture: standin.Architecture
