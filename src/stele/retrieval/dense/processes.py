"""The processes that encode and search together (torchrun's): who writes, who waits, and what they exchange.

What is exchanged lies in main memory, so it goes over gloo, on GPUs too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stele.retrieval.dense.exact_search import BestHits
from stele.training.processes import PROCESS_TIMEOUT, ProcessContext


def set_threads(threads: int | None) -> None:
    """Gives torch and faiss so many threads; None leaves them as they are."""
    if threads:
        import faiss
        import torch

        torch.set_num_threads(threads)
        faiss.omp_set_num_threads(threads)


class ProcessGroup:
    """The processes of a job; one alone exchanges nothing."""

    def __init__(self, process: ProcessContext) -> None:
        self.device, self.rank, self.world, self.is_main = process.device, process.rank, process.world, process.is_main
        self._group = None
        if self.world > 1:
            import torch.distributed as distributed

            self._group = distributed.new_group(backend="gloo", timeout=PROCESS_TIMEOUT)

    def barrier(self) -> None:
        """Waits until every process has come here."""
        self.all_reduce_sum(0)

    def all_reduce_sum(self, number: int) -> int:
        """The sum of all processes' numbers."""
        if self.world == 1:
            return number
        import torch
        import torch.distributed as distributed

        value = torch.tensor(number)
        distributed.all_reduce(value, group=self._group)
        return int(value)

    def broadcast(self, value: Any) -> Any:
        """The first process's value: what it sees on disk, others may not see yet."""
        if self.world > 1:
            import torch.distributed as distributed

            values = [value]
            distributed.broadcast_object_list(values, group=self._group)
            value = values[0]
        return value

    def broadcast_array(self, array: np.ndarray, owner: int) -> None:
        """Overwrites an array with that of the process `owner`; its type and shape are the same in all."""
        if self.world > 1:
            import torch
            import torch.distributed as distributed

            distributed.broadcast(torch.from_numpy(array), owner, group=self._group)

    def gather(self, hits: BestHits) -> Iterator[BestHits]:
        """In the first process: what each other one found; in the others nothing, theirs is sent.

        One at a time, so that the first holds only one beside its own: 4 bytes and an id for each of queries x k.
        """
        if not self.is_main:
            self._send(hits)
            return
        for rank in range(1, self.world):
            yield self._receive(rank, len(hits.counts))

    def _send(self, hits: BestHits) -> None:
        import torch
        import torch.distributed as distributed

        ids = np.ascontiguousarray(hits.ids)
        sizes = np.array([len(ids), ids.dtype.itemsize], np.int64)
        for array in (sizes, hits.counts, hits.scores, ids.view(np.uint8)):
            if len(array):
                distributed.send(torch.from_numpy(array), 0, group=self._group)

    def _receive(self, rank: int, queries: int) -> BestHits:
        def filled(count: int, dtype: type) -> np.ndarray:
            import torch
            import torch.distributed as distributed

            array = np.empty(count, dtype)
            if count:
                distributed.recv(torch.from_numpy(array), rank, group=self._group)
            return array

        number, width = filled(2, np.int64).tolist()
        counts, scores = filled(queries, np.int64), filled(number, np.float32)
        return BestHits(counts, scores, filled(number * width, np.uint8).view(f"S{width}"))
