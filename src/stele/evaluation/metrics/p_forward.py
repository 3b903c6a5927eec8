"""p_forward@k: p@k of a language pair's first direction, the search that bears the pair's name ("de-en": de to en)."""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.metrics import p
from stele.evaluation.requires import needs


@needs("judgments", "p_forward@1")
def evaluate(case: Case, cut: str) -> np.ndarray:
    forward = np.array([search.name == search.language for search in case.searches], dtype=bool)
    return np.where(forward, p.evaluate(case, cut), np.nan)
