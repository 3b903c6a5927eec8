"""The longest chain of jobs, each of which waits for the one before."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter


def longest(seconds: Sequence[float], after: Sequence[Sequence[int]]) -> list[int]:
    """The jobs of the chain that takes longest, first to last. `after[n]`: the jobs, all below n, that job n waits for.

    >>> longest([5, 1, 1, 2], [(), (), (0, 1), (1,)])
    [0, 2]
    """
    chains: list[tuple[float, list[int]]] = []  # the longest one that ends with each job
    for job, (own, waits) in enumerate(zip(seconds, after, strict=True)):
        before, chain = max((chains[other] for other in waits), key=itemgetter(0), default=(0.0, []))
        chains.append((before + own, [*chain, job]))
    return max(chains, key=itemgetter(0), default=(0.0, []))[1]
