"""Fisher's randomisation test for paired scores, two-sided.

Smucker, Allan and Carterette, A comparison of statistical significance tests for information retrieval evaluation
(CIKM 2007), section 2.1. Null hypothesis: which of the two systems gave which of a query's two scores is a coin toss.
Statistic: the absolute difference of the two means, and for an average over languages that of the two averages. So
each query contributes its difference times a weight, a toss turns the sign of a contribution, and the p-value is the
share of the 2^n outcomes whose absolute sum is at least the observed one.

Queries without a difference change no outcome and are left out. If at most 20 are left, all outcomes are counted. Else
B outcomes are drawn, c of which are at least as extreme, and p = (c + 1) / (B + 1): the observed outcome is one of
the possible ones, so p is never 0 (Davison and Hinkley, Bootstrap methods and their application, 1997, section 4.2).

The contributions are sorted by size before any is drawn, and the bits of PCG64 itself are used (their stream is fixed
for a seed, that of numpy's distributions is not): the p-value is the same for the same seed and the same differences,
whatever the order of the queries, of the two systems, the number of threads or the size of a block. ranx 0.3.21's test
is not repeatable with a seed, gives 0 for c = 0, and stops at 1,000 permutations unless told otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

DRAWS = True  # `permutations` and `seed` matter
PERMUTATIONS = 100_000
EXACT = 20  # differences up to which all outcomes are counted: half a million
TOLERANCE = 1e-12  # of the largest possible sum: outcomes this close to the observed one are ties
BLOCK = 4096  # permutations drawn at a time: their sums stay in the cache
_BYTES = 2**24  # of random bits at a time, where there are very many queries


def describe(permutations: int, seed: int) -> str:
    return (
        f"paired Fisher randomisation, two-sided; {permutations:,} permutations, seed {seed}, "
        f"exact where at most {EXACT} queries differ"
    )


def p_value(strata: Sequence[np.ndarray], permutations: int = PERMUTATIONS, seed: int = 0) -> float:
    """p of the mean over strata of the mean of each stratum's differences.

    `strata` holds the differences per query, float [n_l] each: one array for a plain mean, one a language for a macro
    mean over languages. Signs are turned within all queries alike.

    >>> p_value([np.array([0.5, 0.25, 0.25])])  # 2 of the 8 outcomes reach the sum of 1
    0.25
    """
    return randomisation(
        np.concatenate([stratum / (len(strata) * len(stratum)) for stratum in strata]), permutations, seed
    )


def randomisation(contributions: np.ndarray, permutations: int = PERMUTATIONS, seed: int = 0) -> float:
    """p of the absolute sum of some contributions, float [n], under random signs.

    Raises ValueError for one that is not finite.
    """
    if not np.isfinite(contributions).all():
        raise ValueError("contributions must be finite")
    sizes = np.sort(np.abs(contributions[contributions != 0]))
    observed = abs(math.fsum(contributions)) - TOLERANCE * math.fsum(sizes)
    if len(sizes) <= EXACT:
        return _exact(sizes, observed)
    return _sampled(sizes, observed, permutations, seed)


def _exact(sizes: np.ndarray, observed: float) -> float:
    """The share of all outcomes that reach `observed`.

    The sign of the largest stays: an outcome and its mirror image are equally extreme.
    """
    if not len(sizes):
        return 1.0
    sums = sizes[-1:]
    for size in sizes[:-1]:
        sums = np.concatenate([sums + size, sums - size])
    return int(np.count_nonzero(np.abs(sums) >= observed)) / len(sums)


def _sampled(sizes: np.ndarray, observed: float, permutations: int, seed: int) -> float:
    """(c + 1) / (B + 1)."""
    reached = sum(int(np.count_nonzero(np.abs(sums) >= observed)) for sums in _sums(sizes, permutations, seed))
    return (reached + 1) / (permutations + 1)


def _sums(sizes: np.ndarray, permutations: int, seed: int) -> Iterator[np.ndarray]:
    """The sums under random signs, float64 [a block of permutations] each time.

    Permutation number i takes the generator's 64-bit words from i * ceil(n / 64) on, a bit a query, 1 for minus.
    """
    words = -(-len(sizes) // 64)
    block = max(1, min(BLOCK, _BYTES // (8 * words)))
    tables, generator = _tables(sizes), np.random.PCG64(seed)
    for start in range(0, permutations, block):
        count = min(block, permutations - start)
        bits = generator.random_raw(count * words).astype("<u8", copy=False).view(np.uint8).reshape(count, 8 * words)
        sums, part = np.zeros(count), np.empty(count)
        for column, table in enumerate(tables):
            sums += table.take(bits[:, column], out=part, mode="clip")  # no byte is out of range; "raise" would copy
        yield sums


def _tables(sizes: np.ndarray) -> np.ndarray:
    """float64 [ceil(n / 8), 256]: the sum of eight neighbours under each of their 256 patterns of signs."""
    groups = np.zeros((-(-len(sizes) // 8), 8))
    groups.flat[: len(sizes)] = sizes
    signs = 1.0 - 2.0 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    tables = np.zeros((len(groups), 256))
    for bit in range(8):  # no matrix product: its rounding depends on the library and its threads
        tables += groups[:, bit, None] * signs[:, bit]
    return tables
