"""Encoders trained for retrieval on one that reads text already, or beside it with its tokenizer: E5, BGE-M3, gte.

Translations are told from each other, in both directions, by the vector that the folder's modules make: pooling of the
last states, linear maps, length 1. Published as upstream, as a sentence-transformers folder; what its folder states of
prompts and how it holds its weights are the original's.
"""

from __future__ import annotations

from stele.recipes.standins.contrastive import Recipe
from stele_world.standins import _recipe
from stele_world.standins._encoders import new_encoder, train_encoder
from stele_world.standins._models import load


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    base, tokenizer = load(given.bases[0])
    model = base.base_model if recipe.architecture is None else new_encoder(recipe.architecture, tokenizer, given.seed)
    return train_encoder(recipe, given, model, tokenizer)
