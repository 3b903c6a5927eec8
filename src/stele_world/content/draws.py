"""Random draws that are the same on every machine, Python version and hash seed.

A stream is keyed by (seed, purpose, ids...): each thing of the world draws from its own, so that adding one language
or one article changes no other. Only `random.Random.random` is used, whose values CPython keeps stable; weights are
ratios of integers, so no libm function is involved.
"""

import random
from bisect import bisect
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import TypeVar

from stele.catalogue.schema.languages import Syllables

T = TypeVar("T")


class Draws:
    """A stream of random draws.

    >>> stream(0, "doctest").between(1, 9) == stream(0, "doctest").between(1, 9)
    True
    """

    __slots__ = ("_next",)

    def __init__(self, key: str) -> None:
        self._next = random.Random(key).random  # a str key is hashed with SHA-512, not with hash()

    def chance(self, p: float) -> bool:
        """Draws True with probability p."""
        return self._next() < p

    def between(self, low: int, high: int) -> int:
        """Draws an integer uniformly from low to high, both included."""
        return low + int(self._next() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        """Draws one of the items uniformly."""
        return items[int(self._next() * len(items))]

    def zipf(self, items: Sequence[T]) -> T:
        """Draws one of the items, the k-th (from 1) with weight 1/k."""
        sums = _harmonic(len(items))
        return items[bisect(sums, self._next() * sums[-1], hi=len(sums) - 1)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Returns the items in random order (Fisher-Yates)."""
        result = list(items)
        for i in range(len(result) - 1, 0, -1):
            j = int(self._next() * (i + 1))
            result[i], result[j] = result[j], result[i]
        return result


@cache
def _harmonic(n: int) -> list[float]:
    return list(accumulate(1 / k for k in range(1, n + 1)))


def stream(seed: int, *key: str | int) -> Draws:
    """Stream of random draws for `key` in the world of `seed`."""
    return Draws("\x1f".join(map(str, (seed, *key))))


def syllables(inventory: Syllables, n: int, draws: Draws) -> list[str]:
    """Draws n syllables from an inventory of onsets, nuclei and codas; "-" is an empty one."""
    parts = [sounds.split(" ") for sounds in (inventory.onsets, inventory.nuclei, inventory.codas)]
    return ["".join([draws.pick(part).strip("-") for part in parts]) for _ in range(n)]
