"""A deeper one: the layers of a base stacked, then masked language modelling (as XLM-R large is to base)."""

from __future__ import annotations

from stele.recipes.standins.stacked import Recipe
from stele_world.standins import _recipe
from stele_world.standins._mlm import fit
from stele_world.standins._models import load, with_layers


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    base, tokenizer = load(given.bases[0])
    model = with_layers(base, recipe.layers, given.seed)
    return _recipe.Made(model, tokenizer, fit(model, tokenizer, recipe, given))
