"""CROP: two sentences from one window of a document are a positive pair (Wu et al. 2022; MSM section 5.3).

The pair's sentences stand at most `window` blocks apart (mining decides); heads, similarity and temperature are MSM's,
negatives are the other pairs of the group. The released code draws a neighbour for each of a group's 512 sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.training import flops as count
from stele.training.heads import Projector
from stele.training.masking import Vocabulary, attention, fingerprints, pad
from stele.training.negatives import duplicate_mask, in_batch_loss
from stele.training.recipe import PretrainingRecipe
from stele.training.states import first_states
from stele.training.store import Flat

STORE = "crop"


class Recipe(PretrainingRecipe):
    """CROP's own keys."""

    objective: Literal["crop"] = "crop"
    pairs: int = Field(512, ge=2, description="pairs of one contrastive group")
    sentence_length: int = Field(64, ge=3)
    temperature: float = Field(0.1, gt=0)
    projector: Literal["none", "shared", "asymmetric"] = "asymmetric"
    mask_duplicates: bool = Field(True, description="a sentence equal to the positive is not a negative")


def examples(recipe: Recipe) -> int:
    return recipe.pairs


def negatives(recipe: Recipe) -> int:
    return recipe.pairs - 1


def flops(recipe: Recipe, shape: count.Shape) -> float:
    encoder = count.encode(2 * recipe.pairs, recipe.sentence_length, shape, first_only=True)
    heads = 0 if recipe.projector == "none" else 8 * shape.width**2 * recipe.pairs
    passes = 3 if recipe.encode_chunk is None else 4
    return passes * encoder + 3 * (heads + 2 * shape.width * recipe.pairs**2)


def batch(flat: Flat, words: Vocabulary, recipe: Recipe, language: str, rng: np.random.Generator) -> dict[str, Any]:
    """ids int64 [2 n, t]: sentence and neighbour of each pair in turn; names int64 [n], equal for equal sentences"""
    if (flat.counts != 2).any():
        raise SteleError("CROP: want examples of two sentences; these pairs were mined by another method")
    ids, lengths = pad(flat.tokens, flat.lengths, words, recipe.sentence_length)
    names = fingerprints(ids)[0::2]
    return {
        "ids": ids,
        "mask": attention(lengths, ids.shape[1]),
        "names": names.view(np.int64),
        "duplicates": len(names) - len(np.unique(names)),
    }


class Heads(nn.Module):
    """The projection heads."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe
        self.projector = Projector(recipe.projector, config.hidden_size)

    def forward(self, model: nn.Module, batch: Mapping[str, Any]) -> Tensor:
        """The neighbour asks, the sentence is to be found."""
        vectors = first_states(model.base_model, batch["ids"], batch["mask"], self.recipe.encode_chunk)
        keys, queries = self.projector(vectors[0::2], vectors[1::2])
        positives = torch.arange(len(keys), device=keys.device)
        mask = duplicate_mask(batch["names"], positives) if self.recipe.mask_duplicates else None
        with torch.autocast(vectors.device.type, enabled=False):
            queries, keys = (functional.normalize(side.float(), dim=-1) for side in (queries, keys))
            return in_batch_loss(queries, keys, positives, mask, self.recipe.temperature)
