"""ndcg@k: discounted cumulative gain of the first k over that of an ideal ranking cut at k (trec_eval ndcg_cut_k).

The gain is the relevance itself (not 2^relevance - 1, which ranx calls ndcg_burges); it is divided by log2(rank + 1).
Negative relevance gains nothing. A query without a relevant document scores 0 and counts.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, discounted_gain
from stele.evaluation.ranx_arrays import by_ranx
from stele.evaluation.requires import needs


@needs("judgments", "ndcg@20")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "ndcg", cut)


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, discounted_gain, int(cut))
