"""Trained from the start with masked language modelling, with a tokenizer of its own (BERT, section 3.1; XLM-R)."""

from __future__ import annotations

from stele.recipes.standins.trained import Recipe
from stele.training.sampling import derive
from stele_world.standins import _recipe
from stele_world.standins._corpus import read_sentences
from stele_world.standins._mlm import fit
from stele_world.standins._models import build, new_config
from stele_world.standins._tokenizers import make_tokenizer


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    sentences = read_sentences(given.mirror, recipe.of(given.languages))
    tokenizer = make_tokenizer(recipe.tokenizer, [s for texts in sentences.values() for s in texts])
    model = build(new_config(recipe.architecture, tokenizer), derive(given.seed, "initial weights"))
    return _recipe.Made(model, tokenizer, fit(model, tokenizer, recipe, given, sentences))
