"""MoCo as mContriever has it: a crop asks for another crop of its stretch among the keys of earlier steps.

Izacard et al. 2022, section 3; contriever's src/moco.py. Keys come from an encoder of their own, without gradient, that
follows the trained one: after every step it keeps `momentum` of itself and takes the rest from it. The logits of a
query are its inner products with its own key and with the queue, over the temperature; nothing is normalised, but for
the random vectors that fill the queue at first. Both encoders have dropout: the code leaves the one of the keys in
training mode. A query's negatives are the queue alone, never its neighbours, so a step's pairs may be encoded in groups
of any size, on any number of devices.

The code updates the encoder of the keys before it encodes, with the weights that the step before has left: the same as
after that step, since both encoders start alike.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.recipes.flops import Shape
from stele.recipes.objectives.moco import Recipe
from stele.training.heads import ObjectiveHeads
from stele.training.hidden_states import mean_states
from stele.training.masking import Vocabulary
from stele.training.objectives._contrastive import vectors
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.sharding import divide, of_all_groups
from stele.training.store import Flat
from stele.training.text_pairs import pair_batch

POOLING = "mean"

__all__ = ["POOLING", "Heads", "batch", "flops", "negatives", "vectors"]


def negatives(recipe: Recipe, vectors: float) -> int:
    return recipe.queue


def flops(batch: Batch, recipe: Recipe, shape: Shape) -> float:
    return recipe.flops(shape, *batch["query_ids"].shape, batch["passage_ids"].shape[1])


def batch(flat: Flat, vocabulary: Vocabulary, recipe: Recipe, group: Group, rng: np.random.Generator) -> Batch:
    """query_ids int64 [n, t], passage_ids int64 [n, u] (whose vectors are the keys), their masks; vectors (n)"""
    made = pair_batch(flat, vocabulary, recipe.length, recipe.crop_ratio, rng)
    return {**made, "vectors": len(made["query_ids"])}


class Heads(ObjectiveHeads):
    """The encoder of the keys, and the queue [queue, width] with the place of its oldest key."""

    def __init__(self, recipe: Recipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe
        self.register_buffer("queue", functional.normalize(torch.randn(recipe.queue, config.hidden_size), dim=1))
        self.register_buffer("oldest", torch.zeros((), dtype=torch.long))
        self.waiting: list[Tensor] = []  # keys of this process's groups of the step

    def begin(self, model: nn.Module) -> None:
        self.key_encoder = copy.deepcopy(model.base_model).requires_grad_(False)

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        chunk = self.recipe.encode_chunk
        queries = mean_states(model.base_model, batch["query_ids"], batch["query_mask"], chunk, processes)
        with torch.no_grad():
            keys = mean_states(self.key_encoder, batch["passage_ids"], batch["passage_mask"], chunk, processes)
        self.waiting.append(keys)
        with torch.autocast(queries.device.type, enabled=False):
            own = (queries * keys).sum(1, keepdim=True)
            logits = torch.cat([own, queries @ self.queue.T], dim=1) / self.recipe.temperature
            return functional.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long, device=logits.device))

    @torch.no_grad()
    def after_step(self, model: nn.Module, process: ProcessContext) -> None:
        """The step's keys take the places of the oldest ones, in the order of their groups; the key encoder follows."""
        numbers = divide(self.recipe.groups, process).numbers
        zeros = self.queue.new_zeros(self.recipe.groups, self.recipe.pairs, self.queue.shape[1])
        keys = of_all_groups(dict(zip(numbers, self.waiting, strict=True)), zeros, process).flatten(0, 1)
        self.waiting.clear()
        places = (self.oldest + torch.arange(len(keys), device=keys.device)) % len(self.queue)
        self.queue[places] = keys
        self.oldest.copy_((self.oldest + len(keys)) % len(self.queue))
        for key, query in zip(self.key_encoder.parameters(), model.base_model.parameters(), strict=True):
            key.lerp_(query, 1 - self.recipe.momentum)
