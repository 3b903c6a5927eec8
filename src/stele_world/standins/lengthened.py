"""For longer texts: position embeddings copied over and over, then masked language modelling on long windows."""

from __future__ import annotations

from stele.recipes.standins.lengthened import Recipe
from stele_world.standins import _recipe
from stele_world.standins._mlm import fit
from stele_world.standins._models import load, with_positions


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    base, tokenizer = load(given.bases[0])
    model = with_positions(base, recipe.positions, given.seed)
    tokenizer.model_max_length = recipe.positions
    return _recipe.Made(model, tokenizer, fit(model, tokenizer, recipe, given))
