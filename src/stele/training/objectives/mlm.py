"""Masked language modelling: predict hidden tokens from their surroundings (BERT, section 3.1; XLM-R, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.errors import SteleError
from stele.recipes.flops import Shape
from stele.recipes.pretraining import PretrainingRecipe
from stele.training.heads import ObjectiveHeads, vocabulary_head
from stele.training.hidden_states import token_states
from stele.training.masking import Vocabulary, attention, mask_tokens, pad
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch, Group
from stele.training.sharding import cut, own_parts, summed
from stele.training.store import Flat

POOLING = None


def vectors(recipe: PretrainingRecipe) -> None:
    return None


def flops(batch: Batch, recipe: PretrainingRecipe, shape: Shape) -> float:
    return recipe.mlm_flops(shape, *batch["ids"].shape, len(batch["places"]))


def batch(
    flat: Flat, vocabulary: Vocabulary, recipe: PretrainingRecipe, group: Group, rng: np.random.Generator
) -> Batch:
    """ids int64 [n, t] with tokens hidden, mask bool [n, t] or None, places int64 [m] (flat), targets int64 [m]"""
    if (flat.counts != 1).any():
        raise SteleError("MLM: want examples of one stretch of text; these pairs were mined by another method")
    ids, lengths = pad(flat.tokens, flat.lengths, vocabulary, recipe.mlm_length)
    hidden, places, targets = mask_tokens(ids, vocabulary, rng, recipe.mask_probability)
    return {"ids": hidden, "mask": attention(lengths, ids.shape[1]), "places": places, "targets": targets}


class Heads(ObjectiveHeads):
    """Adds nothing: the vocabulary head is the checkpoint's own, tied to its embeddings."""

    def __init__(self, recipe: PretrainingRecipe, config: Any) -> None:
        super().__init__()
        self.recipe = recipe

    def forward(self, model: nn.Module, batch: Batch, processes: ProcessContext | None = None) -> Tensor:
        return masked_loss(model, batch, self.recipe.encode_chunk, processes)


def masked_loss(
    model: nn.Module, batch: Mapping[str, Tensor], chunk: int | None = None, processes: ProcessContext | None = None
) -> Tensor:
    """Mean cross-entropy over the hidden tokens of a batch; the vocabulary head sees their states only.

    With `chunk`, so many sequences at a time, computed again in the backward pass: memory is that of one chunk. Of
    several `processes` each computes some of them, and all get the mean of all (sharding.own_parts).
    """
    ids, mask, places, targets = (batch[name] for name in ("ids", "mask", "places", "targets"))
    types = batch.get("types")
    if processes is None and (chunk is None or len(ids) <= chunk):
        return _loss(model, (ids, mask, types), places, targets, "mean")
    width = ids.shape[1]

    def summed_loss(rows: np.ndarray) -> Tensor:
        chosen = torch.from_numpy(rows).to(ids.device)
        number = torch.full((len(ids),), -1, device=ids.device)  # of a row of the batch among the chosen ones
        number[chosen] = torch.arange(len(rows), device=ids.device)
        row = number[places // width]
        own = row >= 0
        texts = tuple(None if part is None else part[chosen] for part in (ids, mask, types))
        return _loss(model, texts, row[own] * width + places[own] % width, targets[own], "sum")

    parts = own_parts(summed_loss, cut(len(ids), chunk), chunk is not None, processes)
    return summed(torch.stack(parts).sum(), processes) / len(targets)


def _loss(model: nn.Module, texts: tuple[Tensor | None, ...], places: Tensor, targets: Tensor, kind: str) -> Tensor:
    states = token_states(model.base_model, *texts)
    logits = vocabulary_head(model)(functional.embedding(places, states.flatten(0, 1)))
    return functional.cross_entropy(logits.float(), targets, reduction=kind)
