"""The recipe of masked language modelling (training/objectives/mlm.py)."""

from __future__ import annotations

from stele.recipes.pretraining import PretrainingRecipe


class Recipe(PretrainingRecipe):
    """MLM alone: every group is an MLM batch, so `mlm_share` is not used."""
