"""ap@k: precision at each relevant document among the first k, summed, over R (trec_eval map of a run cut at k).

R counts all relevant documents, retrieved or not, more than k or not; `map@k` divides by min(R, k). A query without a
relevant document scores 0 and counts.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import average_precision, by_query
from stele.evaluation.ranx_arrays import by_ranx
from stele.evaluation.requires import needs


@needs("judgments", "ap@1000")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "map", cut)


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, average_precision, int(cut))
