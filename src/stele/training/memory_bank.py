"""A memory bank: vectors of earlier steps, first in, first out, each with a tag (Wu et al. 2018; CCP, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

EMPTY = -1  # the tag of a place where nothing is yet


class MemoryBank(nn.Module):
    """One queue for all tags, or one for each; nothing in it has a gradient, all of it is saved with the module.

    vectors   float32 [queues, size, width]
    tags      int64 [queues, size]: 0, 1, ... or EMPTY
    pushed    int64 [queues]: how many vectors have come in so far; the next one takes place `pushed % size`

    >>> bank = MemoryBank(size=3, width=1)
    >>> bank.push(torch.tensor([[1.0], [2.0]]), torch.tensor([0, 1]))
    >>> bank.push(torch.tensor([[3.0], [4.0]]), torch.tensor([1, 0]))
    >>> bank.vectors.flatten().tolist(), bank.tags.flatten().tolist()
    ([4.0, 2.0, 3.0], [0, 1, 1])
    """

    def __init__(self, size: int, width: int, queues: int = 1) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("vectors", torch.zeros(queues, size, width))
        self.register_buffer("tags", torch.full((queues, size), EMPTY))
        self.register_buffer("pushed", torch.zeros(queues, dtype=torch.long))

    def queue(self, tag: int) -> int:
        """The queue that vectors with a tag enter."""
        return tag if len(self.pushed) > 1 else 0

    @torch.no_grad()
    def push(self, vectors: Tensor, tags: Tensor) -> None:
        """Adds vectors [m, width] with tags [m] in their order, at most `size`; the oldest ones go."""
        if len(self.pushed) == 1:
            return self._push(0, vectors, tags)
        for tag in tags.unique().tolist():
            self._push(tag, vectors[tags == tag], tags[tags == tag])

    def _push(self, queue: int, vectors: Tensor, tags: Tensor) -> None:
        places = (self.pushed[queue] + torch.arange(len(tags), device=tags.device)) % self.size
        self.vectors[queue, places] = vectors
        self.tags[queue, places] = tags
        self.pushed[queue] += len(tags)

    def entries(self, tags: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Vectors [m, width] and tags [m] of the queues of these tags; others and empty places may be among them."""
        queues = sorted({self.queue(tag) for tag in tags})
        if len(queues) == 1:
            return self.vectors[queues[0]], self.tags[queues[0]]
        return self.vectors[queues].flatten(0, 1), self.tags[queues].flatten()
