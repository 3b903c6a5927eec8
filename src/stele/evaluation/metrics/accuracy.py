"""accuracy: the first passage is the right one; over both directions of a language, so the mean of the two.

Tatoeba as CCP reports it; LASER's `IndexSearchMultiple` (facebookresearch/LASER 74bc6ae, source/lib/indexing.py) gives
each direction's error. Both directions have the same number of sentences, the language's own.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, precision
from stele.evaluation.ranx_arrays import by_ranx
from stele.evaluation.requires import needs


@needs("judgments", "accuracy")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "precision", "1")


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, precision, 1)
