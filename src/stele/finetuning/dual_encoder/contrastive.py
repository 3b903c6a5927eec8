"""The loss of a group of queries, encoded on one device or on several."""

from __future__ import annotations

import torch
from torch import Tensor

from stele.finetuning.data.batches import Group
from stele.finetuning.data.examples import Examples
from stele.finetuning.dual_encoder.model import DualEncoder
from stele.training.contrastive_loss import in_batch_loss
from stele.training.processes import ProcessContext


def group_loss(
    module: DualEncoder,
    data: Examples,
    group: Group,
    temperature: float = 1.0,
    chunk: int | None = None,
    processes: ProcessContext | None = None,
) -> Tensor:
    """Mean over the group's queries of the negative log likelihood of the positive among the group's candidates.

    Several `processes` share the encoding; all of them return the loss of the whole group, of which each is to
    take 1 / world (training/sharding.py).
    """
    queries = module.vectors(data.queries, group.queries, "query", chunk, processes)
    passages = module.vectors(data.passages, group.passages, "passage", chunk, processes)
    if module.scale is not None:
        queries = queries * module.scale
    return loss_of_vectors(queries, passages, group, temperature)


def loss_of_vectors(queries: Tensor, passages: Tensor, group: Group, temperature: float) -> Tensor:
    """The loss of a group whose vectors are known: queries [b, d], passages [m, d]. Scores are float32."""
    device = queries.device
    with torch.autocast(device.type, enabled=False):
        mask = torch.from_numpy(group.mask).to(device) if group.mask.any() else None
        return in_batch_loss(queries, passages, torch.from_numpy(group.positives).to(device), mask, temperature)
