"""ICT, the inverse cloze task: a sentence asks for the block it was taken from (Lee et al. 2019, section 4).

One encoder and one dense layer of `width` with LayerNorm and dropout serve both sides, as in google-research/language
(orqa, ict_model: one module, dense 128); the score is the inner product, negatives are the other blocks of the group.
That code projects BERT's pooled output; here the first token's last state is projected, since the poolers of some
checkpoints are untrained and no objective trains them. That the sentence stays in its block one time in ten is the
mining's doing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor, nn

from stele.errors import SteleError
from stele.recipes.flops import Shape
from stele.recipes.objectives.ict import Recipe
from stele.training.heads import ObjectiveHeads, initialise
from stele.training.hidden_states import first_states
from stele.training.masking import Vocabulary, attention, pad
from stele.training.objectives._contrastive import duplicate_counts, negatives, pair_loss, vectors
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.store import Flat

POOLING = "cls"

__all__ = ["POOLING", "Heads", "batch", "flops", "negatives", "vectors"]


def flops(batch: Batch, recipe: Recipe, shape: Shape) -> float:
    return recipe.flops(shape, *batch["query_ids"].shape, batch["block_ids"].shape[1])


def batch(flat: Flat, vocabulary: Vocabulary, recipe: Recipe, group: Group, rng: np.random.Generator) -> Batch:
    """query_ids int64 [n, t], block_ids int64 [n, u], their masks; of the blocks what `duplicate_counts` has"""
    if (flat.counts != 2).any():
        raise SteleError("ICT: want examples of a query and its block; these pairs were mined by another method")
    made: Batch = {}
    owner = np.repeat(np.arange(len(flat.lengths)), flat.lengths)
    for side, name, longest in ((0, "query", recipe.query_length), (1, "block", recipe.block_length)):
        ids, lengths = pad(flat.tokens[owner % 2 == side], flat.lengths[side::2], vocabulary, longest)
        made[f"{name}_ids"], made[f"{name}_mask"] = ids, attention(lengths, ids.shape[1])
    return {**made, **duplicate_counts(made["block_ids"])}


class Heads(ObjectiveHeads):
    """A dense layer with LayerNorm and dropout, for both sides."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe
        self.projection = nn.Sequential(
            nn.Linear(config.hidden_size, recipe.width), nn.LayerNorm(recipe.width), nn.Dropout(recipe.dropout)
        )
        initialise(self, config.initializer_range)

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        chunk = self.recipe.encode_chunk
        queries, blocks = (
            self.projection(
                first_states(model.base_model, batch[f"{name}_ids"], batch[f"{name}_mask"], chunk, processes)
            )
            for name in ("query", "block")
        )
        return pair_loss(queries, blocks, batch, self.recipe)
