"""LaBSE from mBERT: translation ranking with additive margin, in both directions (Feng et al. 2022, section 2).

The vector is the first token's state through a dense layer with tanh (BERT's pooler), normalised; published, as
upstream, as a sentence-transformers folder whose Dense module is that layer.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from stele.recipes.standins.ranking import Recipe
from stele.training.masking import read_vocabulary
from stele.training.sampling import Batch, generator
from stele.training.tasks import to_device
from stele_world.standins import _recipe
from stele_world.standins._models import filled, load, set_dropout
from stele_world.standins._pairs import contrast, draw, side_batch, translation_pairs


class Pooled(nn.Module):
    """The model's pooled vectors [n, d] of a batch of texts."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> Tensor:
        mask = batch["mask"]
        return self.model(input_ids=batch["ids"], attention_mask=None if mask is None else mask.long()).pooler_output


def make(recipe: Recipe, given: _recipe.Given) -> _recipe.Made:
    base, tokenizer = load(given.bases[0])
    model = with_pooler(base, given.seed)
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    pairs = translation_pairs(given.mirror, given.languages, tokenizer)
    module = Pooled(model)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        rng = generator(given.seed, "translations", step)
        sides = [
            to_device(side_batch(s, vocabulary, recipe.pair_length), model.device)
            for s in draw(pairs, rng, recipe.pairs)
        ]
        keys = tuple(side["duplicate_keys"] for side in sides)
        yield {"ranking": contrast(module(sides[0]), module(sides[1]), keys, recipe.temperature, recipe.margin)}

    outcome = given.train(module, loss_at)
    spec = {"pooling": "cls", "normalize": True, "query_length": recipe.max_length, "passage_length": recipe.max_length}
    head = nn.Sequential(copy.deepcopy(model.pooler.dense), nn.Tanh())
    return _recipe.Made(model, tokenizer, outcome, spec, [head])


def with_pooler(base: Any, seed: int) -> Any:
    """The encoder of a masked language model with a pooler, whose weights are a function of the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = type(base.base_model)._from_config(copy.deepcopy(base.config), attn_implementation="sdpa")
    return filled(model, base.base_model.state_dict(), new="pooler.")
