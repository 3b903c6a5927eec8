"""mrr@k: 1 / rank of the first relevant passage among the first k, else 0 (trec_eval recip_rank with -M k)."""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, reciprocal_rank
from stele.evaluation.ranx_arrays import by_ranx
from stele.evaluation.requires import needs


@needs("judgments", "mrr@100")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "mrr", cut)


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, reciprocal_rank, int(cut))
