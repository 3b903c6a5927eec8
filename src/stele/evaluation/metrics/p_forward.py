"""p_forward@k: p@k of a language pair's first direction, the query set of the pair's name ("de-en": de to en)."""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, precision
from stele.evaluation.metrics import p
from stele.evaluation.requires import needs


@needs("judgments", "p_forward@1")
def evaluate(case: Case, cut: str) -> np.ndarray:
    forward = np.array([query_set.name == query_set.language for query_set in case.query_sets], dtype=bool)
    return np.where(forward, p.evaluate(case, cut), np.nan)


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, precision, int(cut))
