"""Encoders that are decoders: Qwen3, EmbeddingGemma (it looks both ways), Harrier. A text ends in <eos> there.

Their tokenizers pad on the left, as the originals', whatever padding is used here.
"""

from __future__ import annotations

from stele.recipes.standins.causal import Recipe
from stele_world.standins import _recipe
from stele_world.standins._corpus import read_sentences
from stele_world.standins._encoders import new_encoder, train_encoder
from stele_world.standins._tokenizers import make_tokenizer


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    sentences = read_sentences(given.mirror, recipe.of(given.languages))
    tokenizer = make_tokenizer(recipe.tokenizer, [s for texts in sentences.values() for s in texts])
    model = new_encoder(recipe.architecture, tokenizer, given.seed)
    return train_encoder(recipe, given, model, tokenizer)
