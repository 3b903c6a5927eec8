"""The recipe of CROP (Wu et al. 2022; training/objectives/crop.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe


class Recipe(PretrainingRecipe):
    """CROP's own keys."""

    objective: Literal["crop"] = "crop"
    pairs: int = Field(ge=2, description="pairs of one contrastive group")
    sentence_length: int = Field(ge=3, description="most tokens of a sentence, special ones included")
    temperature: float = Field(gt=0)
    projector: Literal["none", "shared", "asymmetric"]
    mask_duplicates: bool = Field(True, description="a sentence equal to the positive is not a negative")

    def flops(self, shape: Shape, sentences: int, length: int) -> float:
        encoder = encode(sentences, length, shape, first_only=True)
        heads = 0 if self.projector == "none" else 4 * shape.width**2 * sentences
        return passes(sentences, self.encode_chunk) * encoder + 3 * (heads + shape.width * sentences**2 / 2)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int]:
        return 2 * self.pairs, round(self.sentence_length * tokens)
