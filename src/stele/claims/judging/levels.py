"""The level of each claim of a family, so that the family as a whole keeps its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def holm(p_values: np.ndarray, alpha: float) -> np.ndarray:
    """float64 [m]: alpha over m for the smallest p, over m - 1 for the next, until one is not rejected."""
    order = np.argsort(p_values, kind="stable")
    steps = alpha / np.arange(len(p_values), 0, -1)
    open_ = np.flatnonzero(p_values[order] > steps)
    if len(open_):
        steps[open_[0] :] = steps[open_[0]]
    levels = np.empty(len(p_values))
    levels[order] = steps
    return levels


def benjamini_hochberg(p_values: np.ndarray, alpha: float) -> np.ndarray:
    """float64 [m]: alpha times the share that is rejected, the same for all."""
    steps = alpha * np.arange(1, len(p_values) + 1) / len(p_values)
    rejected = np.flatnonzero(np.sort(p_values) <= steps)
    return np.full(len(p_values), steps[rejected[-1]] if len(rejected) else steps[0])


PROCEDURES: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
}


def levels(p_values: Sequence[float], procedure: str, alpha: float = 0.05) -> list[float]:
    """The level of each claim of one family, in the order given, so that the family as a whole keeps `alpha`.

    A claim's p-value is at most its level, and its interval at one minus the level leaves out 0, exactly where the
    family's procedure rejects: the interval that is shown is the one that is judged by.

    - holm: the chance of any false verdict in the family (Holm, Scandinavian Journal of Statistics 6, 1979)
    - benjamini_hochberg: the expected share of false verdicts (Journal of the Royal Statistical Society B 57, 1995),
      with the intervals of Benjamini and Yekutieli (Journal of the American Statistical Association 100, 2005)

    A claim without a p-value is NaN: results are missing, or it has a test of its own. In Holm's family, which was
    fixed before any run, it counts as not rejected. In the other it does not count and its level is the family's: a
    claim without a verdict cannot be a false discovery.

    >>> levels([0.001, 0.2, 0.02], "holm", 0.06)
    [0.02, 0.06, 0.03]
    >>> levels([0.001, 0.2, 0.02], "benjamini_hochberg", 0.06)
    [0.04, 0.04, 0.04]
    """
    p_array = np.asarray(p_values, dtype=np.float64)
    if procedure == "holm":
        p_array = np.where(np.isnan(p_array), 1.0, p_array)
    known = ~np.isnan(p_array)
    chosen = np.full(len(p_array), alpha)
    if known.any():
        chosen[known] = PROCEDURES[procedure](p_array[known], alpha)
    return chosen.tolist()
