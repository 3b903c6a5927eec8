"""accuracy_to_en: accuracy of the query sets `{lang}-en`, foreign sentences against the English side."""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, precision
from stele.evaluation.metrics import accuracy
from stele.evaluation.requires import needs


@needs("judgments", "accuracy_to_en")
def evaluate(case: Case, cut: str) -> np.ndarray:
    counted = np.array([query_set.name.endswith("-en") for query_set in case.query_sets], dtype=bool)
    return np.where(counted, accuracy.evaluate(case, cut), np.nan)


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, precision, 1)
