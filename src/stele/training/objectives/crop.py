"""CROP: two sentences from one window of a document are a positive pair (Wu et al. 2022; MSM section 5.3).

The pair's sentences stand at most `window` sentences apart (mining decides), negatives are the other pairs of the
group, as in Wu et al.; heads, similarity and temperature are MSM's. The group of MSM's released code is another one
(--enable-sent2sent): MSM's own 16 documents x 32 sentences, each asked for by a neighbour, with the 31 other sentences
of the document among its negatives and with the dynamic bias.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor, nn

from stele.errors import SteleError
from stele.recipes.flops import Shape
from stele.recipes.objectives.crop import Recipe
from stele.training.heads import ObjectiveHeads, Projector
from stele.training.hidden_states import first_states
from stele.training.masking import Vocabulary, attention, pad
from stele.training.objectives._contrastive import duplicate_counts, negatives, pair_loss, vectors
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.store import Flat

POOLING = "cls"

__all__ = ["POOLING", "Heads", "batch", "flops", "negatives", "vectors"]


def flops(batch: Batch, recipe: Recipe, shape: Shape) -> float:
    return recipe.flops(shape, *batch["ids"].shape)


def batch(flat: Flat, vocabulary: Vocabulary, recipe: Recipe, group: Group, rng: np.random.Generator) -> Batch:
    """ids int64 [2 n, t]: sentence and neighbour of each pair in turn; of the sentences what `duplicate_counts` has"""
    if (flat.counts != 2).any():
        raise SteleError("CROP: want examples of two sentences; these pairs were mined by another method")
    ids, lengths = pad(flat.tokens, flat.lengths, vocabulary, recipe.sentence_length)
    return {"ids": ids, "mask": attention(lengths, ids.shape[1]), **duplicate_counts(ids[0::2])}


class Heads(ObjectiveHeads):
    """The projection heads."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe
        self.projector = Projector(recipe.projector, config.hidden_size, config.initializer_range)

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        """The neighbour asks, the sentence is to be found."""
        vectors = first_states(model.base_model, batch["ids"], batch["mask"], self.recipe.encode_chunk, processes)
        keys, queries = self.projector(vectors[0::2], vectors[1::2])
        return pair_loss(queries, keys, batch, self.recipe, normalize=True)
