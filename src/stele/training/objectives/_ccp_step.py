"""What the groups of a step leave behind for bank and running statistics, of all processes and in their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from stele.recipes.objectives.ccp import Recipe
from stele.training.processes import ProcessContext
from stele.training.sampling import Batch
from stele.training.sharding import of_all_groups


class Added(NamedTuple):
    """What a group leaves behind; of several groups, one dimension more. What is shifted by one is 0 where nothing is.

    tags         int64 [m]: one more than the languages of its sentences that enter the bank
    vectors      float32 [m, width]: their vectors; none without a bank
    statistics   float32 [s, 2, width]: mean and variance of a head's batch, by normalisation, where it is asymmetric
    ids          int64 [n, t]: one more than those of its partners, by which the bank may be probed
    """

    tags: Tensor
    vectors: Tensor
    statistics: Tensor
    ids: Tensor


def sizes(recipe: Recipe, width: int, norms: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of what a group leaves behind; `norms`: normalisations of a head."""
    banked = recipe.banked if recipe.bank else 0
    statistics = norms if recipe.batch_norm == "asymmetric" else 0
    return (recipe.banked,), (banked, width), (statistics, 2, width), (recipe.pairs, recipe.sentence_length)


def added(batch: Batch, vectors: Tensor, statistics: Tensor | None, recipe: Recipe) -> Added:
    """What the group of `batch` leaves behind: vectors [2 n, width], centres and partners, as they were scored."""
    ids, mask = batch["ids"][1::2] + 1, batch["mask"]
    padded = ids.new_zeros(recipe.pairs, recipe.sentence_length)
    padded[:, : ids.shape[1]] = ids if mask is None else ids * mask[1::2]
    tags = (batch["tags"] + 1).repeat(recipe.banked // recipe.pairs)
    kept = vectors[-recipe.banked :] if recipe.bank else vectors[:0]
    return Added(tags, kept, kept.new_zeros(0, 2, vectors.shape[1]) if statistics is None else statistics, padded)


def of_step(own: Mapping[int, Added], shapes: tuple, recipe: Recipe, device: Any, process: ProcessContext) -> Added:
    """What all groups of a step leave behind, of this process's `own` by their places; MLM's groups leave nothing."""
    parts = []
    for n, shape in enumerate(shapes):
        dtype = torch.long if n in (0, 3) else torch.float32
        zeros = torch.zeros(recipe.groups, *shape, dtype=dtype, device=device)
        parts.append(of_all_groups({place: each[n] for place, each in own.items()}, zeros, process))
    number = int((parts[0][:, 0] > 0).sum())
    return Added(*(part[:number] for part in parts))
