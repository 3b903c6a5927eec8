"""Masked language modelling of a stand-in: windows of text of mixed languages, `transformers` models, one loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from torch import Tensor, nn

from stele.recipes.standin import Recipe
from stele.training.masked_lm import masked_loss
from stele.training.masking import Vocabulary, mask_tokens, read_vocabulary
from stele.training.sampling import Batch, generator
from stele.training.tasks import to_device
from stele.world.standins._corpus import Corpus, corpus, read_sentences
from stele.world.standins._models import set_dropout
from stele.world.standins._recipe import Given

Hide = Callable[[np.ndarray, Vocabulary, np.random.Generator, float], tuple[np.ndarray, np.ndarray, np.ndarray]]


class MaskedModel(nn.Module):
    """A masked language model; its loss on a batch of `masked_batch`."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: Batch) -> Tensor:
        return masked_loss(self.model, batch)


def masked_batch(
    text: Corpus, vocabulary: Vocabulary, recipe: Recipe, rng: np.random.Generator, hide: Hide = mask_tokens
) -> Batch:
    """ids int64 [b, t] with tokens hidden, mask None, places and targets int64 [m]: what objectives/mlm.py reads."""
    inside = text.windows(rng, recipe.batch, recipe.length - 2, recipe.sampling_alpha)
    ends = np.full((len(inside), 1), vocabulary.cls), np.full((len(inside), 1), vocabulary.sep)
    ids, places, targets = hide(np.hstack([ends[0], inside, ends[1]]), vocabulary, rng, recipe.mask_probability)
    return {"ids": ids, "mask": None, "places": places, "targets": targets}


def fit(
    model: Any, tokenizer: Any, recipe: Recipe, given: Given, sentences: Any = None, hide: Hide = mask_tokens
) -> Batch:
    """Trains a masked language model in place; returns the loop's outcome."""
    module = MaskedModel(model)
    set_dropout(model, recipe.dropout)
    vocabulary = read_vocabulary(tokenizer, model.config.vocab_size)
    sentences = sentences or read_sentences(given.mirror, recipe.of(given.languages))
    text = corpus(sentences, tokenizer, recipe.length - 2)

    def loss_at(step: int) -> Iterator[dict[str, Tensor]]:
        made = masked_batch(text, vocabulary, recipe, generator(given.seed, "windows", step), hide)
        yield {"mlm": module(to_device(made, model.device))}

    return given.train(module, loss_at)
