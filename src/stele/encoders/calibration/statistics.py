"""Mean and standard deviation of a language's vectors, and what they do to vectors: shift and scale."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from stele.errors import SteleError

ScaleBy = Literal["standard_deviation", "variance"]


class Statistics(NamedTuple):
    """Of each coordinate over a language's vectors: float64 [d] both, the deviation that of all of them (not n - 1)."""

    mean: np.ndarray
    deviation: np.ndarray


def statistics(blocks: Iterable[np.ndarray], where: str) -> Statistics:
    """The statistics of vectors in blocks [b, d], read once.

    Blocks are joined as in Chan, Golub and LeVeque 1983. SteleErrors, beginning with `where`, for fewer than two
    vectors, a vector that is not finite, and a coordinate that is the same in all, by which nothing can be scaled.
    """
    count, mean, squares = 0, np.zeros(0), np.zeros(0)
    for block in blocks:
        own = np.asarray(block, np.float64)
        if not (finite := np.isfinite(own).all(axis=1)).all():
            raise SteleError(
                f"{where}: vector {count + int(np.argmin(finite)) + 1} is not finite; use precision: float32"
            )
        if not len(own):
            continue
        centre = own.mean(axis=0)
        spread = ((own - centre) ** 2).sum(axis=0)
        step, total = centre - (mean if count else centre), count + len(own)
        mean = (mean if count else centre) + step * len(own) / total
        squares = (squares if count else 0) + spread + step**2 * count * len(own) / total
        count = total
    if count < 2:
        raise SteleError(f"{where}: {count} vectors, too few for a mean and a deviation")
    deviation = np.sqrt(squares / count)
    constant = np.flatnonzero(deviation <= np.abs(mean) * np.finfo(np.float32).eps)
    if constant.size:
        raise SteleError(
            f"{where}: coordinate {constant[0]} is the same in all {count} vectors, as are {constant.size} of "
            f"{len(mean)}: nothing can be scaled by them; the encoder has collapsed, or the texts are all alike"
        )
    return Statistics(mean, deviation)


def shift(vectors: np.ndarray, own: Statistics) -> np.ndarray:
    """Vectors [n, d] minus their language's mean, float64.

    >>> rows = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> shift(rows, statistics([rows], "rows")).tolist()
    [[-1.0, -2.0], [1.0, 2.0]]
    """
    return np.asarray(vectors, np.float64) - own.mean


def scale(shifted: np.ndarray, own: Statistics, by: ScaleBy = "standard_deviation") -> np.ndarray:
    """Shifted vectors [n, d] over their language's deviation, or its square.

    >>> rows = np.array([[1.0, 2.0], [3.0, 6.0]])
    >>> own = statistics([rows], "rows")
    >>> scale(shift(rows, own), own).tolist(), scale(shift(rows, own), own, "variance").tolist()
    ([[-1.0, -1.0], [1.0, 1.0]], [[-1.0, -0.5], [1.0, 0.5]])
    """
    return shifted / (own.deviation if by == "standard_deviation" else own.deviation**2)
