"""Divides a step among the processes of a job: by whole groups if they divide evenly, else each group over all.

A group spread over processes stays one group: each process encodes some of its sequences, and all compute the loss of
the whole group from the gathered vectors.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from stele.errors import SteleError
from stele.training.processes import ProcessContext


class Shard(NamedTuple):
    """The part of a step that one process computes."""

    numbers: range  # places of its groups in the step
    processes: ProcessContext | None  # processes that share each group; None if this one computes them alone
    weight: float  # of a group's loss; the weighted sum over groups and processes is the step's mean loss
    counted: bool  # whether this process counts the contents of its groups

    @property
    def shared(self) -> bool:
        return self.processes is not None


def divide(groups: int, process: ProcessContext) -> Shard:
    """Determines the part of a process in a step of `groups` groups.

    >>> divide(4, ProcessContext(torch.device("cpu"), rank=1, world=2)).numbers
    range(1, 4, 2)
    >>> divide(3, ProcessContext(torch.device("cpu"), rank=1, world=2)).shared
    True
    """
    if groups % process.world == 0:
        return Shard(range(process.rank, groups, process.world), None, 1 / groups, True)
    return Shard(range(groups), process, 1 / (groups * process.world), process.is_main)


def cut(rows: int, chunk: int | None) -> list[np.ndarray]:
    """Cuts the rows 0, 1, ... into pieces of `chunk` rows, int64 each; None: into one piece.

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
    """Encodes the rows 0 to n - 1, which `pieces` hold in any order, to vectors [n, d] in the order of rows.

    encode(piece) -> [len(piece), d]; `chunked` and `processes` as for `own_parts`. All processes get all vectors.
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
    """Results of compute(piece) for the pieces of this process: every world-th one.

    `chunked` says that the recipe sets the pieces. Each piece then has its own random numbers (dropout), whatever the
    number of processes, and a process with several computes each again in the backward pass, so that memory is that of
    one piece. Fewer pieces than processes are cut smaller. Raises SteleError for fewer rows than processes.
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
    """The pieces, or one piece for each process if there are fewer pieces than processes."""
    if len(pieces) >= world:
        return pieces
    rows = np.concatenate(pieces)
    if len(rows) < world:
        raise SteleError(f"a group of {len(rows)} texts cannot be spread over {world} processes; use fewer")
    # rows may be sorted by length: each process gets long texts and short ones
    return [rows[start::world] for start in range(world)]


def _seeded(encode: Callable[[np.ndarray], Tensor], piece: np.ndarray, seed: int, again: bool) -> Tensor:
    def alone(piece: np.ndarray) -> Tensor:
        with torch.random.fork_rng(devices=[torch.cuda.current_device()] if torch.cuda.is_initialized() else []):
            seed_torch(seed)
            return encode(piece)

    return checkpoint(alone, piece, use_reentrant=False, preserve_rng_state=False) if again else alone(piece)


# --- exchange between processes ---------------------------------------------------------------------------------------
def gathered(vectors: Tensor, sizes: Sequence[int], processes: ProcessContext) -> Tensor:
    """Gathers the vectors of all processes, [sum of sizes, d], in the order of their ranks.

    All processes weight the same loss by 1 / world, so the gradient of their own vectors is multiplied by `world`.
    """
    return _Gathered.apply(vectors, tuple(sizes), processes)


def summed(part: Tensor, processes: ProcessContext | None) -> Tensor:
    """Sums a loss over the parts of all processes; gradients as for `gathered`."""
    return part if processes is None else _Summed.apply(part, processes)


def of_all_groups(own_tensors: Mapping[int, Tensor], zeros: Tensor, process: ProcessContext) -> Tensor:
    """Collects the tensors of all groups of a step from all processes into `zeros` [groups, ...], which is contiguous.

    `own_tensors`: place in the step -> tensor. Shared groups are equal in all processes; a group that none has stays 0.
    """
    for number, tensor in own_tensors.items():
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
    """Seeds torch's generators, except those of devices that this process never uses, unlike torch.manual_seed.

    For each kind of uninitialised device torch.manual_seed queues a call with its stack trace: a millisecond and some
    memory each time, a twentieth of a run with thousands of micro-batches of a small model.
    """
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)
