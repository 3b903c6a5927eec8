"""How old the vectors of a memory bank are by what they say: one group's, encoded once more before they leave it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

NONE = -1  # no group is held
APART = 16  # groups from one that is held to the next: encoding it costs a sixth of its loss with the gradient


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
