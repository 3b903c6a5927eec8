"""The recipe of a stand-in that learns from crops of one text (world/standins/moco.py)."""

from __future__ import annotations

from pydantic import Field, model_validator

from stele.recipes import standin
from stele.recipes.pretraining import CropRatio, PretrainingRecipe, recipe_model


class Recipe(standin.PairsRecipe):
    """Its own keys."""

    queue: int = Field(ge=1, description="keys of earlier steps")
    momentum: float = Field(ge=0, le=1, description="what the encoder of the keys keeps of itself in a step")
    crop_ratio: CropRatio = (0.1, 0.5)

    @model_validator(mode="after")
    def _queue_holds_a_step(self) -> Recipe:
        if self.queue < self.pairs:
            raise ValueError(f"queue: want room for the {self.pairs} keys of a step")
        return self

    def objective(self) -> PretrainingRecipe:
        """The keys that the objective reads; how it is optimised is the stand-in's own matter."""
        shared = self.model_dump(include={"pairs", "temperature", "queue", "momentum", "crop_ratio"})
        return recipe_model("moco").model_construct(**shared, length=self.pair_length, groups=1, encode_chunk=None)
