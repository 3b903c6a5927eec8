"""ICT, the inverse cloze task: a sentence asks for the block it was taken from (Lee et al. 2019, section 4).

Query and block vectors are the encoder's first-token states, each through its own dense layer of `width`, LayerNorm and
dropout (google-research/language, orqa: dense 128); the score is their inner product, negatives are the other blocks of
the group. That the sentence stays in its block one time in ten is the mining's doing. MSM's text leaves open whether
one encoder or two are trained; one is, since one checkpoint comes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn

from stele.errors import SteleError
from stele.training import flops as count
from stele.training.heads import initialise
from stele.training.masking import Vocabulary, attention, fingerprints, pad
from stele.training.negatives import duplicate_mask, in_batch_loss
from stele.training.recipe import PretrainingRecipe
from stele.training.states import first_states
from stele.training.store import Flat

STORE = "ict"


class Recipe(PretrainingRecipe):
    """ICT's own keys; lengths and width are the original's (its batch of 4,096 needs `encode_chunk`)."""

    objective: Literal["ict"] = "ict"
    mlm_share: float = Field(0.0, ge=0, lt=1)
    pairs: int = Field(256, ge=2, description="pairs of one contrastive group")
    query_length: int = Field(64, ge=3)
    block_length: int = Field(288, ge=3)
    width: int = Field(128, ge=1)
    temperature: float = Field(1.0, gt=0)
    mask_duplicates: bool = Field(True, description="a block equal to the positive is not a negative")


def examples(recipe: Recipe) -> int:
    return recipe.pairs


def negatives(recipe: Recipe) -> int:
    return recipe.pairs - 1


def flops(recipe: Recipe, shape: count.Shape) -> float:
    lengths = (recipe.query_length, recipe.block_length)
    encoder = sum(count.encode(recipe.pairs, length, shape, first_only=True) for length in lengths)
    heads = 4 * shape.width * recipe.width * recipe.pairs
    passes = 3 if recipe.encode_chunk is None else 4
    return passes * encoder + 3 * (heads + 2 * recipe.width * recipe.pairs**2)


def batch(flat: Flat, words: Vocabulary, recipe: Recipe, language: str, rng: np.random.Generator) -> dict[str, Any]:
    """query_ids int64 [n, t], block_ids int64 [n, u], their masks; names int64 [n], equal for equal blocks"""
    if (flat.counts != 2).any():
        raise SteleError("ICT: want examples of a query and its block; these pairs were mined by another method")
    made: dict[str, Any] = {}
    owner = np.repeat(np.arange(len(flat.lengths)), flat.lengths)
    for side, name, longest in ((0, "query", recipe.query_length), (1, "block", recipe.block_length)):
        ids, lengths = pad(flat.tokens[owner % 2 == side], flat.lengths[side::2], words, longest)
        made[f"{name}_ids"], made[f"{name}_mask"] = ids, attention(lengths, ids.shape[1])
    names = fingerprints(made["block_ids"])
    return {**made, "names": names.view(np.int64), "duplicates": len(names) - len(np.unique(names))}


class Heads(nn.Module):
    """A dense layer with LayerNorm and dropout for each side."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe
        self.query, self.block = (
            nn.Sequential(
                nn.Linear(config.hidden_size, recipe.width), nn.LayerNorm(recipe.width), nn.Dropout(recipe.dropout)
            )
            for _ in range(2)
        )
        initialise(self)

    def forward(self, model: nn.Module, batch: Mapping[str, Any]) -> Tensor:
        queries, blocks = (
            head(first_states(model.base_model, batch[f"{name}_ids"], batch[f"{name}_mask"], self.recipe.encode_chunk))
            for name, head in (("query", self.query), ("block", self.block))
        )
        positives = torch.arange(len(queries), device=queries.device)
        mask = duplicate_mask(batch["names"], positives) if self.recipe.mask_duplicates else None
        with torch.autocast(queries.device.type, enabled=False):
            return in_batch_loss(queries.float(), blocks.float(), positives, mask, self.recipe.temperature)
