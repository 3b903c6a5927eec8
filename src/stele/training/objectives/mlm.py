"""Masked language modelling: predict hidden tokens from their surroundings (BERT, section 3.1; XLM-R, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.training import flops as count
from stele.training.heads import vocabulary_head
from stele.training.masking import Vocabulary, attention, mask_tokens, pad
from stele.training.recipe import PretrainingRecipe
from stele.training.states import token_states
from stele.training.store import Flat

STORE = "mlm"


class Recipe(PretrainingRecipe):
    """MLM alone: every group is an MLM batch, so `mlm_share` is not used."""


def examples(recipe: PretrainingRecipe) -> int:
    return recipe.mlm_sequences


def negatives(recipe: PretrainingRecipe) -> None:
    return None


def flops(recipe: PretrainingRecipe, shape: count.Shape) -> float:
    tokens = recipe.mlm_sequences * recipe.mlm_length
    head = recipe.mask_probability * tokens * (2 * shape.width**2 + 2 * shape.width * shape.vocabulary)
    return 3 * (count.encode(recipe.mlm_sequences, recipe.mlm_length, shape, first_only=False) + head)


def batch(
    flat: Flat, words: Vocabulary, recipe: PretrainingRecipe, language: str, rng: np.random.Generator
) -> dict[str, Any]:
    """ids int64 [n, t] with tokens hidden, mask bool [n, t] or None, places int64 [m] (flat), targets int64 [m]"""
    if (flat.counts != 1).any():
        raise SteleError("MLM: want examples of one stretch of text; these pairs were mined by another method")
    ids, lengths = pad(flat.tokens, flat.lengths, words, recipe.mlm_length)
    hidden, places, targets = mask_tokens(ids, words, rng, recipe.mask_probability)
    return {"ids": hidden, "mask": attention(lengths, ids.shape[1]), "places": places, "targets": targets}


class Heads(nn.Module):
    """Adds nothing: the vocabulary head is the checkpoint's own, tied to its embeddings."""

    def __init__(self, recipe: PretrainingRecipe, config: Any) -> None:
        super().__init__()

    def forward(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        """Mean cross-entropy over the hidden tokens; the vocabulary head sees their states only."""
        states = token_states(model.base_model, batch["ids"], batch["mask"])
        chosen = functional.embedding(batch["places"], states.flatten(0, 1))
        logits = vocabulary_head(model)(chosen)
        return functional.cross_entropy(logits.float(), batch["targets"])
