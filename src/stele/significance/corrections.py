"""Corrected p-values of a family of comparisons, in the order given: each is compared with the level itself.

Both keep the chance of any false discovery in the family below the level (Holm, A simple sequentially rejective
multiple test procedure, Scandinavian Journal of Statistics 6, 1979). A comparison that has no p-value (NaN) stays so
and does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from stele.errors import unknown


def none(p_values: np.ndarray) -> np.ndarray:
    """As they are."""
    return p_values


def bonferroni(p_values: np.ndarray) -> np.ndarray:
    """Each times their number, at most 1."""
    return np.minimum(1.0, len(p_values) * p_values)


def holm(p_values: np.ndarray) -> np.ndarray:
    """The i-th smallest of m times m - i + 1, at most 1 and at least the one before it."""
    order = np.argsort(p_values, kind="stable")
    corrected = np.empty(len(p_values))
    factors = np.arange(len(p_values), 0, -1)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    return corrected


CORRECTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"holm": holm, "bonferroni": bonferroni, "none": none}


def correct(p_values: Sequence[float], name: str) -> list[float]:
    """The corrected p-values of one family; an unknown name is a SteleError.

    >>> correct([0.04, 0.01, 0.03], "holm")
    [0.06, 0.03, 0.06]
    """
    if name not in CORRECTIONS:
        raise unknown("correction", name, CORRECTIONS)
    corrected = np.array(p_values, dtype=np.float64)
    there = ~np.isnan(corrected)
    corrected[there] = CORRECTIONS[name](corrected[there])
    return corrected.tolist()
