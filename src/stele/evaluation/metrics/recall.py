"""recall@k: the share of a query's relevant passages that are among the first k (trec_eval recall_k)."""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, recall
from stele.evaluation.ranx_arrays import by_ranx
from stele.evaluation.requires import needs


@needs("judgments", "recall@100")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "recall", cut)


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, recall, int(cut))
