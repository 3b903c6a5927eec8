"""The loss of a group of queries, on one device or spread over several."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from stele.errors import SteleError
from stele.finetuning.batches import Group
from stele.finetuning.examples import Examples
from stele.finetuning.model import DualEncoder
from stele.training.device import Place
from stele.training.negatives import in_batch_loss


def group_loss(
    module: DualEncoder,
    data: Examples,
    group: Group,
    temperature: float = 1.0,
    chunk: int | None = None,
    where: Place | None = None,
) -> Tensor:
    """Mean over the group's queries of the negative log likelihood of the positive among the group's candidates.

    With several processes each encodes its share of the queries and their own candidates; the vectors of all are
    gathered, the loss is that of the whole group everywhere, and gradients flow into a process's own vectors only. The
    sum of the processes' gradients is the gradient of one process, and the sum of the returned values is the loss.
    """
    world = 1 if where is None else where.world
    shares = share(group, world)
    first, last = shares[where.rank] if where is not None else shares[0]
    own = slice(group.starts[first], group.starts[last])
    queries = module.vectors(data.queries, group.queries[first:last], "query", chunk)
    passages = module.vectors(data.passages, group.passages[own], "passage", chunk)
    if module.scale is not None:
        queries = queries * module.scale  # before gathering, so that each process has the gradient of its own queries
    if world > 1:
        queries = gather(queries, [b - a for a, b in shares], where)
        passages = gather(passages, [int(group.starts[b] - group.starts[a]) for a, b in shares], where)
    loss = loss_of_vectors(queries, passages, group, temperature)
    return loss - (1 - 1 / world) * loss.detach()


def loss_of_vectors(queries: Tensor, passages: Tensor, group: Group, temperature: float) -> Tensor:
    """The loss of a group whose vectors are known: queries [b, d], passages [m, d]. Scores are float32."""
    device = queries.device
    with torch.autocast(device.type, enabled=False):
        mask = torch.from_numpy(group.mask).to(device) if group.mask.any() else None
        return in_batch_loss(queries, passages, torch.from_numpy(group.positives).to(device), mask, temperature)


def share(group: Group, world: int) -> list[tuple[int, int]]:
    """The queries [first, last) of each process: as even as can be, in order."""
    number = len(group.queries)
    if number < world:
        raise SteleError(f"a group of {number} queries cannot be spread over {world} processes; use at most {number}")
    bounds = np.linspace(0, number, world + 1).round().astype(int)
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))


def gather(vectors: Tensor, sizes: list[int], where: Place) -> Tensor:
    """The vectors of all processes in the order of their ranks; only a process's own carry a gradient."""
    import torch.distributed as distributed

    padded = vectors.detach().new_zeros(max(sizes), vectors.shape[1])
    padded[: len(vectors)] = vectors.detach()
    found = [torch.empty_like(padded) for _ in sizes]
    distributed.all_gather(found, padded)
    parts = [part[:size] for part, size in zip(found, sizes, strict=True)]
    parts[where.rank] = vectors
    return torch.cat(parts)
