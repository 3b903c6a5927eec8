"""CCP's memory bank, a probe of how stale its vectors are, and the vectors that each step adds to it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from stele.training.processes import ProcessContext
from stele.training.sampling import Batch
from stele.training.sharding import of_all_groups

EMPTY = -1  # the tag of an empty place
NONE = -1  # no group is held
APART = 16  # least distance between held groups: encoding one costs a sixth of its loss with the gradient


class MemoryBank(nn.Module):
    """Memory bank of vectors from earlier steps, first in, first out (Wu et al. 2018; CCP, section 3.1).

    It has one queue for all tags (languages) or one for each, has no gradient, and is saved with the module.

    vectors   float32 [queues, size, width]
    tags      int64 [queues, size]: 0, 1, ... or EMPTY
    pushed    int64 [queues]: number of vectors added so far; the next one takes place `pushed % size`

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
        """Number of the queue for vectors with this tag."""
        return tag if len(self.pushed) > 1 else 0

    @torch.no_grad()
    def push(self, vectors: Tensor, tags: Tensor) -> None:
        """Adds vectors [m, width] with tags int64 [m], in their order and at most `size`; drops the oldest."""
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
        """Vectors [m, width] and tags [m] in the queues of `tags`, with any other tags and empty places in them."""
        queues = sorted({self.queue(tag) for tag in tags})
        if len(queues) == 1:
            return self.vectors[queues[0]], self.tags[queues[0]]
        return self.vectors[queues].flatten(0, 1), self.tags[queues].flatten()


class Probe(nn.Module):
    """Probe of the bank's staleness: it holds the partners of one group until their vectors begin to leave the bank.

    ids       int64 [n, t], -1 after the end of a sentence
    vectors   float32 [n, width], as they entered the bank
    facts     int64 [3]: number of vectors in their queue's history before them (NONE: no group is held); number in the
              run of the group held now or last; its tag
    """

    def __init__(self, pairs: int, length: int, width: int) -> None:
        super().__init__()
        self.register_buffer("ids", torch.full((pairs, length), -1))
        self.register_buffer("vectors", torch.zeros(pairs, width))
        self.register_buffer("facts", torch.tensor([NONE, -APART, 0]))

    @torch.no_grad()
    def hold(self, ids: Tensor, vectors: Tensor, facts: tuple[int, int, int]) -> None:
        self.ids.copy_(ids)
        self.vectors.copy_(vectors)
        self.facts.copy_(torch.tensor(facts))

    @torch.no_grad()
    def cosine(self, encode: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Mean cosine, float32 [], between the held vectors and encode(ids, mask) of the same sentences now."""
        mask = self.ids >= 0
        width = int(mask.sum(1).max())
        now = encode(self.ids[:, :width].clamp(min=0), mask[:, :width])
        return functional.cosine_similarity(now, self.vectors).mean()


# --- additions of a step's groups to the bank, from all processes and in the order of groups --------------------------
class Added(NamedTuple):
    """A group's additions to bank and running statistics; of several groups, stacked along a first dimension."""

    tags: Tensor  # int64 [m]: 1 + language number of each sentence that enters the bank; 0: none
    vectors: Tensor  # float32 [m, width]: their vectors; none without a bank
    statistics: Tensor  # float32 [s, 2, width]: batch mean and variance of a head's normalisations, if asymmetric
    ids: Tensor  # int64 [n, t]: 1 + token ids of the partners, for probing the bank; 0: padding


def sizes(recipe: Any, width: int, norms: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of the fields of `Added` for one group; `norms` is the number of normalisations in a head."""
    banked = recipe.banked if recipe.bank else 0
    statistics = norms if recipe.batch_norm == "asymmetric" else 0
    return (recipe.banked,), (banked, width), (statistics, 2, width), (recipe.pairs, recipe.sentence_length)


def added(batch: Batch, vectors: Tensor, statistics: Tensor | None, recipe: Any) -> Added:
    """Collects a group's additions; vectors [2 n, width] are those scored by the loss, centres before partners."""
    ids, mask = batch["ids"][1::2] + 1, batch["mask"]
    padded = ids.new_zeros(recipe.pairs, recipe.sentence_length)
    padded[:, : ids.shape[1]] = ids if mask is None else ids * mask[1::2]
    tags = (batch["tags"] + 1).repeat(recipe.banked // recipe.pairs)
    banked = vectors[-recipe.banked :] if recipe.bank else vectors[:0]
    return Added(tags, banked, banked.new_zeros(0, 2, vectors.shape[1]) if statistics is None else statistics, padded)


def of_step(own_groups: Mapping[int, Added], shapes: tuple, recipe: Any, device: Any, process: ProcessContext) -> Added:
    """Collects the additions of a step's groups, in order; `own_groups`: place -> those of this process."""
    parts = []
    for n, shape in enumerate(shapes):
        dtype = torch.long if n in (0, 3) else torch.float32
        zeros = torch.zeros(recipe.groups, *shape, dtype=dtype, device=device)
        parts.append(of_all_groups({place: each[n] for place, each in own_groups.items()}, zeros, process))
    number = int((parts[0][:, 0] > 0).sum())
    return Added(*(part[:number] for part in parts))
