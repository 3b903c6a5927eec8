"""CCP's memory bank, how old its vectors are, and what the groups of a step leave behind for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.training.processes import ProcessContext
from stele.training.sampling import Batch
from stele.training.sharding import of_all_groups

EMPTY = -1  # the tag of a place where nothing is yet
NONE = -1  # no group is held
APART = 16  # groups from one that is held to the next: encoding it costs a sixth of its loss with the gradient


class MemoryBank(nn.Module):
    """Vectors of earlier steps, first in, first out (Wu et al. 2018; CCP, section 3.1).

    One queue for all tags, or one for each; nothing in it has a gradient, all of it is saved with the module.

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


class Probe(nn.Module):
    """The partners of a group whose vectors are in the bank, held until the first of them may leave it.

    ids       int64 [n, t], -1 behind their ends
    vectors   float32 [n, width], as they entered the bank
    facts     int64 [3]: what their queue had taken before them (NONE: nothing is held), the number in the run of the
              group that is or was held, its tag
    """

    def __init__(self, pairs: int, length: int, width: int) -> None:
        super().__init__()
        self.register_buffer("ids", torch.full((pairs, length), -1))
        self.register_buffer("vectors", torch.zeros(pairs, width))
        self.register_buffer("facts", torch.tensor([NONE, -APART, 0]))

    @torch.no_grad()
    def hold(self, ids: Tensor, vectors: Tensor, facts: tuple[int, int, int]) -> None:
        """Takes a group in the place of another."""
        self.ids.copy_(ids)
        self.vectors.copy_(vectors)
        self.facts.copy_(torch.tensor(facts))

    def release(self) -> None:
        """Holds nothing until the next one."""
        self.facts[0] = NONE

    @torch.no_grad()
    def cosine(self, encode: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """The mean cosine of the held vectors and of those that encode(ids, mask) makes of the sentences now."""
        mask = self.ids >= 0
        width = int(mask.sum(1).max())
        now = encode(self.ids[:, :width].clamp(min=0), mask[:, :width])
        return functional.cosine_similarity(now, self.vectors).mean()


# --- what the groups of a step leave behind, of all processes and in their order --------------------------------------
class Added(NamedTuple):
    """The additions of a group to bank and statistics; of several groups, one dimension more. Numbers are shifted by
    one, and 0 where there is nothing.

    tags         int64 [m]: one more than the languages of its sentences that enter the bank
    vectors      float32 [m, width]: their vectors; none without a bank
    statistics   float32 [s, 2, width]: mean and variance of a head's batch, by normalisation, where it is asymmetric
    ids          int64 [n, t]: one more than those of its partners, by which the bank may be probed
    """

    tags: Tensor
    vectors: Tensor
    statistics: Tensor
    ids: Tensor


def sizes(recipe: Any, width: int, norms: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of what a group leaves behind; `norms`: normalisations of a head."""
    banked = recipe.banked if recipe.bank else 0
    statistics = norms if recipe.batch_norm == "asymmetric" else 0
    return (recipe.banked,), (banked, width), (statistics, 2, width), (recipe.pairs, recipe.sentence_length)


def added(batch: Batch, vectors: Tensor, statistics: Tensor | None, recipe: Any) -> Added:
    """The additions of a group: vectors [2 n, width] are its centres and partners, as they were scored."""
    ids, mask = batch["ids"][1::2] + 1, batch["mask"]
    padded = ids.new_zeros(recipe.pairs, recipe.sentence_length)
    padded[:, : ids.shape[1]] = ids if mask is None else ids * mask[1::2]
    tags = (batch["tags"] + 1).repeat(recipe.banked // recipe.pairs)
    banked = vectors[-recipe.banked :] if recipe.bank else vectors[:0]
    return Added(tags, banked, banked.new_zeros(0, 2, vectors.shape[1]) if statistics is None else statistics, padded)


def of_step(own: Mapping[int, Added], shapes: tuple, recipe: Any, device: Any, process: ProcessContext) -> Added:
    """The additions of all groups of a step; `own` are this process's by their places. MLM's groups add nothing."""
    parts = []
    for n, shape in enumerate(shapes):
        dtype = torch.long if n in (0, 3) else torch.float32
        zeros = torch.zeros(recipe.groups, *shape, dtype=dtype, device=device)
        parts.append(of_all_groups({place: each[n] for place, each in own.items()}, zeros, process))
    number = int((parts[0][:, 0] > 0).sum())
    return Added(*(part[:number] for part in parts))
