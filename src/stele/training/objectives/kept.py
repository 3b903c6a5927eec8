"""KEPT: texts that the knowledge base joins are positive pairs, one group a task (KEPT, sections 3.3 and 3.4).

A group is `pairs` pairs of one task, of all languages or language pairs mixed; its loss is equation 4: of a query's own
passage against the other passages of the group, from queries to passages only, inner products over the temperature.
One encoder makes both sides' vectors, the means of its last hidden states (section 3.1). The store of a task has pairs
(ILK, CLK and their variants); CROP's has stretches of text, of which every batch takes two new crops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from stele.recipes.objectives.kept import Recipe
from stele.training import flops as count
from stele.training.contrastive_loss import duplicate_mask, in_batch_loss
from stele.training.heads import ObjectiveHeads
from stele.training.hidden_states import mean_states
from stele.training.masking import Vocabulary, fingerprints
from stele.training.processes import ProcessContext
from stele.training.store import Flat
from stele.training.text_pairs import pair_batch

POOLING = "mean"


def examples(recipe: Recipe) -> int:
    return recipe.pairs


def negatives(recipe: Recipe, vectors: float) -> float:
    return vectors - 1


def vectors(recipe: Recipe) -> int:
    return recipe.pairs


def flops(batch: Mapping[str, Any], recipe: Recipe, shape: count.Shape) -> float:
    pairs = len(batch["query_ids"])
    encoder = sum(count.encode(*batch[name].shape, shape, first_only=False) for name in ("query_ids", "passage_ids"))
    return count.passes(pairs, recipe.encode_chunk) * encoder + 3 * 2 * shape.width * pairs**2


def batch(
    flat: Flat, words: Vocabulary, recipe: Recipe, language: str | None, rng: np.random.Generator
) -> dict[str, Any]:
    """query_ids int64 [n, t], passage_ids int64 [n, u], their masks; names int64 [n], equal for equal passages; vectors
    (n), duplicates"""
    made = pair_batch(flat, words, recipe.length, recipe.crop_ratio, rng)
    names = fingerprints(made["passage_ids"])
    repeated = len(names) - len(np.unique(names))
    return {**made, "names": names.view(np.int64), "vectors": len(names), "duplicates": repeated}


class Heads(ObjectiveHeads):
    """Adds nothing: the encoder's own vectors are compared."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe

    def forward(self, model: nn.Module, batch: Mapping[str, Any], processes: ProcessContext | None = None) -> Tensor:
        chunk = self.recipe.encode_chunk
        queries, passages = (
            mean_states(model.base_model, batch[f"{side}_ids"], batch[f"{side}_mask"], chunk, processes)
            for side in ("query", "passage")
        )
        positives = torch.arange(len(queries), device=queries.device)
        mask = duplicate_mask(batch["names"], positives) if self.recipe.mask_duplicates else None
        with torch.autocast(queries.device.type, enabled=False):
            return in_batch_loss(queries, passages, positives, mask, self.recipe.temperature)
