"""For longer texts: position embeddings copied over and over, then masked language modelling on long windows."""

from __future__ import annotations

from pydantic import Field

from stele.world.standins import _recipe
from stele.world.standins._mlm import fit
from stele.world.standins._models import load, with_positions

BASES = 1


class Recipe(_recipe.Recipe):
    positions: int = Field(ge=8, description="tokens that fit")


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    base, tokenizer = load(given.bases[0])
    model = with_positions(base, recipe.positions, given.seed)
    tokenizer.model_max_length = recipe.positions
    return _recipe.Made(model, tokenizer, fit(model, tokenizer, recipe, given))
