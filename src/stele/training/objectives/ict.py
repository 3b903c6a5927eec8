"""ICT, the inverse cloze task: a sentence asks for the block it was taken from (Lee et al. 2019, section 4).

One encoder and one dense layer of `width` with LayerNorm and dropout serve both sides, as in google-research/language
(orqa, ict_model: one module, dense 128); the score is the inner product, negatives are the other blocks of the group.
That code projects BERT's pooled output; here the first token's last state is projected, since the poolers of some
checkpoints are untrained and no objective trains them. That the sentence stays in its block one time in ten is the
mining's doing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from stele.errors import SteleError
from stele.recipes.objectives.ict import Recipe
from stele.training import flops as count
from stele.training.contrastive_loss import duplicate_mask, in_batch_loss
from stele.training.heads import ObjectiveHeads, initialise
from stele.training.hidden_states import first_states
from stele.training.masking import Vocabulary, attention, fingerprints, pad
from stele.training.processes import ProcessContext
from stele.training.store import Flat

POOLING = "cls"


def examples(recipe: Recipe) -> int:
    return recipe.pairs


def negatives(recipe: Recipe, vectors: float) -> float:
    return vectors - 1


def vectors(recipe: Recipe) -> int:
    return recipe.pairs


def flops(batch: Mapping[str, Any], recipe: Recipe, shape: count.Shape) -> float:
    pairs = len(batch["query_ids"])
    encoder = sum(count.encode(*batch[name].shape, shape, first_only=True) for name in ("query_ids", "block_ids"))
    heads = 4 * shape.width * recipe.width * pairs
    return count.passes(pairs, recipe.encode_chunk) * encoder + 3 * (heads + 2 * recipe.width * pairs**2)


def batch(
    flat: Flat, words: Vocabulary, recipe: Recipe, language: str | None, rng: np.random.Generator
) -> dict[str, Any]:
    """query_ids int64 [n, t], block_ids int64 [n, u], their masks; names int64 [n], equal for equal blocks; vectors
    (n), duplicates"""
    if (flat.counts != 2).any():
        raise SteleError("ICT: want examples of a query and its block; these pairs were mined by another method")
    made: dict[str, Any] = {}
    owner = np.repeat(np.arange(len(flat.lengths)), flat.lengths)
    for side, name, longest in ((0, "query", recipe.query_length), (1, "block", recipe.block_length)):
        ids, lengths = pad(flat.tokens[owner % 2 == side], flat.lengths[side::2], words, longest)
        made[f"{name}_ids"], made[f"{name}_mask"] = ids, attention(lengths, ids.shape[1])
    names = fingerprints(made["block_ids"])
    repeated = len(names) - len(np.unique(names))
    return {**made, "names": names.view(np.int64), "vectors": len(names), "duplicates": repeated}


class Heads(ObjectiveHeads):
    """A dense layer with LayerNorm and dropout, for both sides."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe
        self.projection = nn.Sequential(
            nn.Linear(config.hidden_size, recipe.width), nn.LayerNorm(recipe.width), nn.Dropout(recipe.dropout)
        )
        initialise(self, config.initializer_range)

    def forward(self, model: nn.Module, batch: Mapping[str, Any], processes: ProcessContext | None = None) -> Tensor:
        chunk = self.recipe.encode_chunk
        queries, blocks = (
            self.projection(
                first_states(model.base_model, batch[f"{name}_ids"], batch[f"{name}_mask"], chunk, processes)
            )
            for name in ("query", "block")
        )
        positives = torch.arange(len(queries), device=queries.device)
        mask = duplicate_mask(batch["names"], positives) if self.recipe.mask_duplicates else None
        with torch.autocast(queries.device.type, enabled=False):
            return in_batch_loss(queries.float(), blocks.float(), positives, mask, self.recipe.temperature)
