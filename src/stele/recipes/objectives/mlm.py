"""The recipe of masked language modelling (training/objectives/mlm.py)."""

from __future__ import annotations

from stele.recipes.flops import Shape
from stele.recipes.pretraining import PretrainingRecipe


class Recipe(PretrainingRecipe):
    """MLM alone: every group is an MLM batch, so `mlm_share` is not used."""

    def flops(self, shape: Shape, sequences: int, length: int, places: float) -> float:
        return self.mlm_flops(shape, sequences, length, places)

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, float]:
        return self.mlm_sizes(tokens)
