"""The mining recipe of stretches of text for MLM (pairs/methods/mlm.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.mining import MiningRecipe


class Recipe(MiningRecipe):
    """MLM's keys. Lengths in tokens count the two special ones that training adds, but for `least`."""

    method: Literal["mlm"] = "mlm"
    length: int = Field(256, ge=3, description="tokens of a stretch")
    least: int = Field(16, ge=1, description="a document's last stretch is dropped when it has fewer tokens of text")
