"""The recipe of mContriever's momentum contrast (training/objectives/moco.py)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from stele.recipes.crop_ratio import CropRatio
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.pretraining import PretrainingRecipe


class Recipe(PretrainingRecipe):
    """MoCo's own keys. Queries are independent of each other, so only `groups` x `pairs`, those of a step, matters."""

    objective: Literal["moco"] = "moco"
    pairs: int = Field(ge=1, description="pairs of crops encoded together")
    length: int = Field(ge=3, description="most tokens of a crop, special ones included")
    temperature: float = Field(gt=0)
    queue: int = Field(ge=1, description="keys of earlier steps: the negatives")
    momentum: float = Field(ge=0, le=1, description="what the encoder of the keys keeps of itself in a step")
    crop_ratio: CropRatio

    @model_validator(mode="after")
    def _sizes_fit(self) -> Recipe:
        if self.queue < self.groups * self.pairs:
            raise ValueError(f"queue: want room for the {self.groups * self.pairs} keys of a step")
        if self.mlm_share:
            raise ValueError("mlm_share: MLM batches take the places of pairs, and every step has as many keys; want 0")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        """Crops are of the stretches that MLM reads."""
        return "mlm"

    def flops(self, shape: Shape, pairs: int, query_length: int, passage_length: int) -> float:
        """Queries forward and backward, keys forward; scores twice, since no gradient goes to the queue."""
        queries, keys = (encode(pairs, length, shape, first_only=False) for length in (query_length, passage_length))
        return passes(pairs, self.encode_chunk) * queries + keys + 2 * 2 * shape.width * pairs * self.queue

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        length = round(self.length * tokens)
        return self.pairs, length, length
