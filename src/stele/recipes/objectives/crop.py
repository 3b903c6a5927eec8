"""The recipe of CROP (Wu et al. 2022; training/objectives/crop.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.pretraining import PretrainingRecipe


class Recipe(PretrainingRecipe):
    """CROP's own keys."""

    objective: Literal["crop"] = "crop"
    pairs: int = Field(ge=2, description="pairs of one contrastive group")
    sentence_length: int = Field(ge=3, description="most tokens of a sentence, special ones included")
    temperature: float = Field(gt=0)
    projector: Literal["none", "shared", "asymmetric"]
    mask_duplicates: bool = Field(True, description="a sentence equal to the positive is not a negative")
