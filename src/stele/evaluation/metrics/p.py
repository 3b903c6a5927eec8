"""p@k: relevant documents among the first k, over k, however few were retrieved (trec_eval P_k)."""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, precision
from stele.evaluation.ranx_arrays import by_ranx
from stele.evaluation.requires import needs


@needs("judgments", "p@20")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "precision", cut)


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, precision, int(cut))
