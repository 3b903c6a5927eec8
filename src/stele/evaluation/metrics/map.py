"""map@k as LAReQA and Mewsli-X have it: precision at each hit among the first k, summed, over min(R, k).

Source: google-research/xtreme 838c13b third_party/utils_lareqa.py `average_precision_at_k`. ranx and trec_eval's
map_cut divide by R, all relevant passages (that is `ap@k`); the two differ where a query has more than k. With one
relevant passage, as in Mewsli-X (third_party/utils_mewslix.py), it is the reciprocal rank.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.guess import by_query, capped_average_precision
from stele.evaluation.ranx_arrays import by_ranx
from stele.evaluation.requires import needs


@needs("judgments", "map@20")
def evaluate(case: Case, cut: str) -> np.ndarray:
    relevant = np.array([sum(r >= 1 for r in right.values()) for right in case.relevant])
    return by_ranx(case, "map", cut) * np.maximum(relevant, 1) / np.clip(relevant, 1, int(cut))


def guess(case: Case, cut: str) -> np.ndarray:
    return by_query(case, capped_average_precision, int(cut))
