"""Processes (torchrun's) that encode and search together: the share of each, and the data that they exchange.

A window of consecutive texts is encoded as a whole, so that its vectors are the same bytes in every process. The
processes take windows in turn. All read the stream, which is cheap beside encoding (docs/speed.md). Exchanged arrays
are in main memory, so they go over gloo, on GPUs too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from stele.retrieval.dense.exact_search import BestHits
from stele.retrieval.dense.vector_files import VectorTransform, identity, l2_normalize
from stele.training.processes import PROCESS_TIMEOUT, ProcessContext

if TYPE_CHECKING:
    from stele.encoders.encode import Encoder

Item = TypeVar("Item")


class Shares:
    """Assigns the windows of a stream to `world` processes in turn; this one is `rank`.

    >>> shares = Shares(1, 2, window=2)
    >>> list(shares.assigned("abcde")), shares.read
    (['c', 'd'], 5)
    """

    def __init__(self, rank: int, world: int, window: int) -> None:
        self.rank, self.world, self.window = rank, world, window
        self.read = 0  # items read so far, of all processes

    def assigned(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yields the items of this process's windows."""
        for item in items:
            owner = self.read // self.window % self.world
            self.read += 1
            if owner == self.rank:
                yield item


def in_order(size: int, world: int, window: int) -> Iterator[tuple[int, slice]]:
    """Yields, for each window of a stream of `size` items in their order, its owner and its rows among the owner's.

    >>> list(in_order(25, 2, 10))
    [(0, slice(0, 10, None)), (1, slice(0, 10, None)), (0, slice(10, 20, None))]
    """
    for number in range(-(-size // window)):
        start = number // world * window
        yield number % world, slice(start, start + window)


def set_threads(threads: int | None) -> None:
    """Sets the threads of torch and faiss; None leaves them as they are."""
    if threads:
        import faiss
        import torch

        torch.set_num_threads(threads)
        faiss.omp_set_num_threads(threads)


class ProcessGroup:
    """Communication between the processes of a job; with a single process it does nothing."""

    def __init__(self, process: ProcessContext) -> None:
        self.device, self.rank, self.world, self.is_main = process.device, process.rank, process.world, process.is_main
        if self.world > 1:
            from torch import distributed

            self._distributed = distributed
            self._group = distributed.new_group(backend="gloo", timeout=PROCESS_TIMEOUT)

    def barrier(self) -> None:
        """Waits until every process has reached this call."""
        self.all_reduce_sum(0)

    def all_reduce_sum(self, number: int) -> int:
        """Sums the numbers of all processes."""
        numbers = [number] * self.world
        if self.world > 1:
            self._distributed.all_gather_object(numbers, number, group=self._group)
        return sum(numbers)

    def broadcast(self, value: Any, owner: int = 0) -> Any:
        """Returns the owner's value in all processes; of the first one, since others may not yet see the same files."""
        values = [value]
        if self.world > 1:
            self._distributed.broadcast_object_list(values, owner, group=self._group)
        return values[0]

    def gather(self, hits: BestHits) -> Iterator[BestHits]:
        """Yields, in the first process, the hits of each other process, one at a time; the others send theirs."""
        if not self.is_main:
            self._distributed.send_object_list([hits], 0, group=self._group)
            return
        for rank in range(1, self.world):
            received: list[Any] = [None]
            self._distributed.recv_object_list(received, rank, group=self._group)
            yield received[0]


def encode_queries(
    encoder: Encoder,
    processes: ProcessGroup,
    texts: Sequence[str],
    *,
    normalize: bool,
    transform: VectorTransform = identity,
) -> np.ndarray:
    """Encodes queries with all processes; returns float32 [n, d], the same bytes in each process.

    `transform` is applied before the vectors are scaled to length 1 (`normalize`).
    """
    rows = list(Shares(processes.rank, processes.world, encoder.window).assigned(range(len(texts))))
    vectors = np.empty((len(texts), encoder.dimension), np.float32)
    if rows:
        vectors[rows] = transform(encoder.encode([texts[row] for row in rows], "query"))
    for number, start in enumerate(range(0, len(texts), encoder.window)):
        window = slice(start, start + encoder.window)
        vectors[window] = processes.broadcast(vectors[window], number % processes.world)
    return l2_normalize(vectors) if normalize else vectors
