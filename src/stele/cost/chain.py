"""The longest chain of jobs, each of which waits for the one before."""

from __future__ import annotations

from collections.abc import Sequence


def longest(seconds: Sequence[float], after: Sequence[Sequence[int]]) -> list[int]:
    """The jobs of the chain that takes longest, first to last. `after[n]`: the jobs, all below n, that job n waits for.

    >>> longest([5, 1, 1, 2], [(), (), (0, 1), (1,)])
    [0, 2]
    """
    ends: list[float] = []
    before: list[int | None] = []
    for duration, waits in zip(seconds, after, strict=True):
        last = max(waits, key=lambda job: ends[job], default=None)
        ends.append(duration + (0 if last is None else ends[last]))
        before.append(last)
    chain, job = [], max(range(len(ends)), key=lambda job: ends[job], default=None)
    while job is not None:
        chain.append(job)
        job = before[job]
    return chain[::-1]
