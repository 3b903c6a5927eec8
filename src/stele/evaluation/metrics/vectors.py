"""Alignment and uniformity of embeddings on the unit sphere (KEPT, table 8).

Source: SsnL/align_uniform e256d47 `align_loss` with alpha = 2 and `uniform_loss` with t = 2 (Wang and Isola 2020,
section 4.1). Both presuppose unit vectors and do not make them; here vectors are divided by their norms, which leaves
unit vectors as they are.
"""

import math

import numpy as np

from stele.evaluation.metric import Case, Metric
from stele.evaluation.similarity import blocks, l2_normalize


class Alignment(Metric):
    """alignment: mean ||x - y||^2 of the unit vectors of a query and its passage; 0 to 4, lower is closer."""

    example = "alignment"
    needs = "vectors"
    unguessed = "a distance"

    def evaluate(self, case: Case) -> np.ndarray:
        values = np.full(len(case.queries), np.nan)
        for name, rows in case.rows_of.items():
            x, y = (l2_normalize(side, f"query set {name!r}") for side in case.vectors[name])
            values[rows.start : rows.stop] = np.square(x - y).sum(axis=1)
        return values


class Uniformity(Metric):
    """Uniformity of one side's vectors on the unit sphere; a lower value means more evenly spread.

    Log of the mean, over pairs of a query set's vectors, of exp(-2 ||xi - xj||^2): 0 where all are one point, about -4
    for many points in all directions. A point's value is twice its mean over all others minus that of all points: it is
    in their means, too. So the mean over points is that over pairs, of which `finish` takes the logarithm, and varies
    with the sample as much as it does (Hoeffding 1948). A query set with a single vector does not count (NaN).
    """

    needs = "vectors"
    unguessed = "describes one side's vectors, which have no right answer"
    finish = staticmethod(lambda mean: math.log(min(max(mean, math.exp(-8)), 1.0)))  # resampled means may be beyond
    side: int  # of a pair of vectors

    def evaluate(self, case: Case) -> np.ndarray:
        values = np.full(len(case.queries), np.nan)
        for name, rows in case.rows_of.items():
            vectors = l2_normalize(case.vectors[name][self.side], f"query set {name!r}")
            of_point = potentials(vectors)
            values[rows.start : rows.stop] = 2 * of_point - of_point.mean()
        return values


class QueryUniformity(Uniformity):
    example = "uniformity_query"
    side = 0


class PassageUniformity(Uniformity):
    example = "uniformity_passage"
    side = 1


def potentials(x: np.ndarray) -> np.ndarray:
    """Mean of exp(-2 ||xi - xj||^2) of each unit vector of `x` [n, d] over the others, float64 [n]; NaN if n is 1."""
    if len(x) < 2:
        return np.full(len(x), np.nan)
    values = np.empty(len(x))
    for rows in blocks(len(x), len(x)):
        squared = np.maximum(2 - 2 * (x[rows] @ x.T), 0)
        pairs = np.exp(-2 * squared)
        pairs[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = 0  # itself
        values[rows] = pairs.sum(axis=1) / (len(x) - 1)
    return values
