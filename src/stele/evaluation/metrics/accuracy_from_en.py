"""accuracy_from_en: accuracy of the query sets `en-{lang}`, the one direction that XTREME's script measures.

Source: google-research/xtreme 838c13b `similarity_search`: the English sentences search among the foreign ones.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, precision
from stele.evaluation.metrics import accuracy
from stele.evaluation.requires import needs


@needs("judgments", "accuracy_from_en")
def evaluate(case: Case, cut: str) -> np.ndarray:
    counted = np.array([query_set.name.startswith("en-") for query_set in case.query_sets], dtype=bool)
    return np.where(counted, accuracy.evaluate(case, cut), np.nan)


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, precision, 1)
