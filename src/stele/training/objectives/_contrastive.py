"""What objectives on pairs of texts share: a group's sizes, which of its texts are equal, the loss among its pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from stele.training.contrastive_loss import duplicate_mask, in_batch_loss
from stele.training.masking import fingerprints
from stele.training.sampling import Batch


def vectors(recipe: Any) -> int:
    """Vectors that share a group's negatives, at most."""
    return recipe.pairs


def negatives(recipe: Any, vectors: float) -> float:
    """Negatives of a query in a group of so many vectors: all but its own."""
    return vectors - 1


def duplicate_counts(ids: np.ndarray) -> Batch:
    """Of the texts ids [n, t] that are compared: duplicate_keys int64 [n], equal for equal texts; vectors (n);
    duplicates (how many of them another one equals)"""
    keys = fingerprints(ids)
    return {"duplicate_keys": keys.view(np.int64), "vectors": len(ids), "duplicates": len(ids) - len(np.unique(keys))}


def pair_loss(queries: Tensor, passages: Tensor, batch: Batch, recipe: Any, normalize: bool = False) -> Tensor:
    """The in-batch loss of the pairs queries [n, d] and passages [n, d], in float32; equal passages are no negatives.

    Inner products over the recipe's temperature, or cosines where `normalize` is set.
    """
    positives = torch.arange(len(queries), device=queries.device)
    mask = duplicate_mask(batch["duplicate_keys"], positives) if recipe.mask_duplicates else None
    with torch.autocast(queries.device.type, enabled=False):
        queries, passages = queries.float(), passages.float()
        if normalize:
            queries, passages = (functional.normalize(side, dim=-1) for side in (queries, passages))
        return in_batch_loss(queries, passages, positives, mask, recipe.temperature)
