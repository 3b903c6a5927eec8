"""The recipe of ICT (Lee et al. 2019; training/objectives/ict.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe


class Recipe(PretrainingRecipe):
    """ICT's own keys; the original's group of 4,096 needs `encode_chunk`."""

    objective: Literal["ict"] = "ict"
    pairs: int = Field(ge=2, description="pairs of one contrastive group")
    query_length: int = Field(ge=3, description="most tokens of a query, special ones included")
    block_length: int = Field(ge=3, description="most tokens of a block")
    width: int = Field(ge=1, description="numbers a projected vector")
    temperature: float = Field(1.0, gt=0)
    mask_duplicates: bool = Field(True, description="a block equal to the positive is not a negative")

    def flops(self, shape: Shape, pairs: int, query_length: int, block_length: int) -> float:
        encoder = sum(encode(pairs, length, shape, first_only=True) for length in (query_length, block_length))
        heads = 4 * shape.width * self.width * pairs
        return passes(pairs, self.encode_chunk) * encoder + 3 * (heads + 2 * self.width * pairs**2)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        return self.pairs, round(self.query_length * tokens), round(self.block_length * tokens)
