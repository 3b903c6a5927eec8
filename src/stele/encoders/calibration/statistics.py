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
    vectors, a vector that is not finite, and a coordinate that is the same in all but for rounding, by which nothing
    can be scaled.
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
    return checked(Statistics(mean, np.sqrt(squares / count)), f"{where}, {count} vectors")


def checked(own: Statistics, where: str) -> Statistics:
    """Statistics by which vectors can be scaled: each coordinate differs by more than the rounding of float32.

    That of a sum is of the size of the other coordinates, whatever is left of its own.
    """
    size = np.maximum(np.abs(own.mean), own.deviation.max(initial=0))
    constant = np.flatnonzero(own.deviation <= size * np.finfo(np.float32).eps)
    if constant.size:
        first = constant[0]
        raise SteleError(
            f"{where}: coordinate {first} is the same in all, as are {constant.size} of {len(own.mean)} (deviation "
            f"{own.deviation[first]:.1e}, of others up to {own.deviation.max():.1e}): nothing can be scaled by them; "
            "the encoder has collapsed, or the texts are all alike"
        )
    return own


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
