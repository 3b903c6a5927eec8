"""Divides a step among the processes of a job: whole groups if they divide evenly, else each group over all.

A group is what shares negatives and batch-norm statistics. Spread over processes it stays one group: each process
encodes some of its sequences, the vectors are gathered, and all processes compute the loss of the whole group from all
of them. So global batch and contrastive group are the recipe's, whatever the number of devices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from stele.errors import SteleError
from stele.training.processes import ProcessContext


class Shard(NamedTuple):
    """One process's part of a step.

    numbers   its groups among those of the step
    processes      the processes that each of them is spread over; None: this process has them whole
    weight    what the loss of a group counts, so that the sum over groups and processes is the step's mean loss
    counted   whether this process is the one that counts what is in its groups
    """

    numbers: range
    processes: ProcessContext | None
    weight: float
    counted: bool

    @property
    def shared(self) -> bool:
        return self.processes is not None


def divide(groups: int, process: ProcessContext) -> Shard:
    """The part of a process in a step of `groups` groups.

    >>> divide(4, ProcessContext(torch.device("cpu"), rank=1, world=2)).numbers
    range(1, 4, 2)
    >>> divide(3, ProcessContext(torch.device("cpu"), rank=1, world=2)).shared
    True
    """
    if groups % process.world == 0:
        return Shard(range(process.rank, groups, process.world), None, 1 / groups, True)
    return Shard(range(groups), process, 1 / (groups * process.world), process.is_main)


def cut(rows: int, chunk: int | None) -> list[np.ndarray]:
    """Rows 0, 1, ... in pieces of `chunk`; None: one piece.

    >>> [piece.tolist() for piece in cut(5, 2)]
    [[0, 1], [2, 3], [4]]
    """
    return np.array_split(np.arange(rows), range(chunk, rows, chunk) if chunk else [])


def in_pieces(
    encode: Callable[[np.ndarray], Tensor],
    pieces: Sequence[np.ndarray],
    chunked: bool,
    processes: ProcessContext | None,
) -> Tensor:
    """Vectors [n, d] of the rows 0 to n - 1, which `pieces` hold in some order: encode(piece) -> [len(piece), d].

    `chunked` and `processes` as for `own_parts`; all processes get all vectors.
    """
    world = 1 if processes is None else processes.world
    pieces = _enough(pieces, world)
    parts = own_parts(encode, pieces, chunked, processes)
    vectors = parts[0] if len(parts) == 1 else torch.cat(parts)
    if processes is not None:
        vectors = gathered(vectors, [sum(map(len, pieces[rank::world])) for rank in range(world)], processes)
    order = np.concatenate([piece for rank in range(world) for piece in pieces[rank::world]])
    return vectors if (np.diff(order) == 1).all() else vectors[torch.from_numpy(np.argsort(order)).to(vectors.device)]


def own_parts(
    compute: Callable[[np.ndarray], Tensor],
    pieces: Sequence[np.ndarray],
    chunked: bool,
    processes: ProcessContext | None,
) -> list[Tensor]:
    """compute(piece) for the pieces of this process, every world-th one.

    `chunked`: the pieces are the recipe's. Each draws random numbers (dropout) of its own, and is computed again in the
    backward pass where a process has several, so that memory is that of one piece. Then what comes out does not depend
    on the number of processes, but for the order of sums. Other pieces, and chunked ones that are fewer than the
    processes, are cut smaller for more processes, and dropout draws differ. Random numbers after this are the same in
    all processes.
    """
    rank, world = (0, 1) if processes is None else (processes.rank, processes.world)
    pieces = _enough(pieces, world)
    pieces_here = pieces[rank::world]
    if processes is None and (len(pieces) == 1 or not chunked):
        return [compute(piece) for piece in pieces_here]
    seeds = torch.randint(1 << 62, (len(pieces),)).tolist()[rank::world]
    again = chunked and len(pieces_here) > 1 and torch.is_grad_enabled()
    return [_seeded(compute, piece, seed, again) for piece, seed in zip(pieces_here, seeds, strict=True)]


def _enough(pieces: Sequence[np.ndarray], world: int) -> Sequence[np.ndarray]:
    """The pieces, cut anew into as many as there are processes where they are fewer."""
    if len(pieces) >= world:
        return pieces
    rows = np.concatenate(pieces)
    if len(rows) < world:
        raise SteleError(f"a group of {len(rows)} cannot be spread over {world} processes; use at most {len(rows)}")
    # sorted by length, as they may be: each process gets long ones and short ones
    return [rows[start::world] for start in range(world)]


def _seeded(encode: Callable[[np.ndarray], Tensor], piece: np.ndarray, seed: int, again: bool) -> Tensor:
    """encode(piece) with random numbers of its own; `again`: kept are only the vectors, until the backward pass."""

    def alone(piece: np.ndarray) -> Tensor:
        with torch.random.fork_rng(devices=[torch.cuda.current_device()] if torch.cuda.is_initialized() else []):
            seed_torch(seed)
            return encode(piece)

    return checkpoint(alone, piece, use_reentrant=False, preserve_rng_state=False) if again else alone(piece)


# --- exchange between processes ---------------------------------------------------------------------------------------
def gathered(vectors: Tensor, sizes: Sequence[int], processes: ProcessContext) -> Tensor:
    """The vectors of all processes [sum of sizes, d], in the order of their ranks.

    All processes compute the same loss from them, of which each is to take 1 / world: the gradient that a process gets
    for its own vectors is therefore `world` times the one that it computes.
    """
    return _Gathered.apply(vectors, tuple(sizes), processes)


def summed(part: Tensor, processes: ProcessContext | None) -> Tensor:
    """The sum of all processes' parts of a loss; gradients as for `gathered`."""
    return part if processes is None else _Summed.apply(part, processes)


def of_all_groups(own: Mapping[int, Tensor], zeros: Tensor, process: ProcessContext) -> Tensor:
    """`zeros` [groups, ...], contiguous, filled with what each process has of the groups of a step, by their numbers.

    Groups that are spread over processes are the same in all of them; a group that nobody has stays 0.
    """
    for number, tensor in own.items():
        zeros[number] = tensor
    return zeros if divide(len(zeros), process).shared else process.all_reduce_sum(zeros)


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx, vectors: Tensor, sizes: tuple[int, ...], processes: ProcessContext) -> Tensor:
        import torch.distributed as distributed

        first = sum(sizes[: processes.rank])
        ctx.rows, ctx.world = slice(first, first + sizes[processes.rank]), processes.world
        padded = vectors.new_zeros(max(sizes), vectors.shape[1])
        padded[: len(vectors)] = vectors
        gathered = [torch.empty_like(padded) for _ in sizes]
        distributed.all_gather(gathered, padded)
        return torch.cat([part[:size] for part, size in zip(gathered, sizes, strict=True)])

    @staticmethod
    def backward(ctx, gradient: Tensor):
        return gradient[ctx.rows] * ctx.world, None, None


class _Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, part: Tensor, processes: ProcessContext) -> Tensor:
        ctx.world = processes.world
        return processes.all_reduce_sum(part.detach().clone())

    @staticmethod
    def backward(ctx, gradient: Tensor):
        return gradient * ctx.world, None


def seed_torch(seed: int) -> None:
    """Sets the seed of torch's own generators; unlike torch.manual_seed, not of devices that this process never uses.

    torch.manual_seed keeps a call, with the stack that made it, for each kind of device that is not initialised: a
    millisecond and some memory each time, which at thousands of micro-batches of a small model is a twentieth of a run.
    """
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)
