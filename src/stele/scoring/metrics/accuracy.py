"""accuracy: the first passage is the right one; over both directions of a language, so the mean of the two.

Tatoeba as CCP reports it. Both directions have the same number of sentences.
"""

from __future__ import annotations

import numpy as np

from stele.scoring.case import Case


def evaluate(case: Case, cut: str) -> np.ndarray:
    return first_is_right(case)


def first_is_right(case: Case) -> np.ndarray:
    """1.0 where the first passage of the ranking is relevant, else 0.0."""
    pairs = zip(case.ranked, case.relevant, strict=True)
    return np.array([float(bool(names) and right.get(names[0], 0) > 0) for names, right in pairs])
