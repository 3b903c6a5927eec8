"""Uniformity of vectors on the unit sphere: log of the mean, over pairs i < j, of exp(-2 ||xi - xj||^2).

Source: SsnL/align_uniform e256d47 `uniform_loss` with t = 2 (Wang and Isola 2020, section 4.1). It presupposes unit
vectors and does not make them; here vectors are divided by their norms, which leaves unit vectors as they are.
A point's own value is the mean over all others, so that the mean over points is the mean over pairs, and `finish` takes
the logarithm of that.
"""

from __future__ import annotations

import math

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.vectors import blocks, l2_normalize


def evaluate_side(case: Case, side: int) -> np.ndarray:
    """The value of each row's query (side 0) or passage (side 1) among those of its query set [rows]."""
    values = np.full(len(case.queries), np.nan)
    for name, rows in case.rows_of.items():
        values[rows.start : rows.stop] = potentials(l2_normalize(case.vectors[name][side], f"query set {name!r}"))
    return values


def potentials(x: np.ndarray) -> np.ndarray:
    """For each unit vector of [n, d] the mean of exp(-2 ||xi - xj||^2) over all others; NaN for a single one."""
    if len(x) < 2:
        return np.full(len(x), np.nan)
    values = np.empty(len(x))
    for rows in blocks(len(x), len(x)):
        squared = np.maximum(2 - 2 * (x[rows] @ x.T), 0)
        pairs = np.exp(-2 * squared)
        pairs[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = 0  # itself
        values[rows] = pairs.sum(axis=1) / (len(x) - 1)
    return values


def finish(mean: float) -> float:
    return math.log(mean)
