"""KEPT: texts that the knowledge base joins are positive pairs, one group a task (KEPT, sections 3.3 and 3.4).

A group is `pairs` pairs of one task, of all languages or language pairs mixed; its loss is equation 4: of a query's own
passage against the other passages of the group, from queries to passages only, inner products over the temperature.
One encoder makes both sides' vectors, the means of its last hidden states (section 3.1). The store of a task has pairs
(ILK, CLK and their variants); CROP's has stretches of text, of which every batch takes two new crops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor, nn

from stele.recipes.flops import Shape
from stele.recipes.objectives.kept import Recipe
from stele.training.heads import ObjectiveHeads
from stele.training.hidden_states import mean_states
from stele.training.masking import Vocabulary
from stele.training.objectives._contrastive import duplicate_counts, negatives, pair_loss, vectors
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.store import Flat
from stele.training.text_pairs import pair_batch

POOLING = "mean"

__all__ = ["POOLING", "Heads", "batch", "flops", "negatives", "vectors"]


def flops(batch: Batch, recipe: Recipe, shape: Shape) -> float:
    return recipe.flops(shape, *batch["query_ids"].shape, batch["passage_ids"].shape[1])


def batch(flat: Flat, vocabulary: Vocabulary, recipe: Recipe, group: Group, rng: np.random.Generator) -> Batch:
    """query_ids int64 [n, t], passage_ids int64 [n, u], their masks; of the passages what `duplicate_counts` has"""
    made = pair_batch(flat, vocabulary, recipe.length, recipe.crop_ratio, rng)
    return {**made, **duplicate_counts(made["passage_ids"])}


class Heads(ObjectiveHeads):
    """Adds nothing: the encoder's own vectors are compared."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        chunk = self.recipe.encode_chunk
        queries, passages = (
            mean_states(model.base_model, batch[f"{side}_ids"], batch[f"{side}_mask"], chunk, processes)
            for side in ("query", "passage")
        )
        return pair_loss(queries, passages, batch, self.recipe)
