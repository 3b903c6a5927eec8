"""ap_judged: average precision over the judged documents only, as for CLEF's re-ranking of judged candidates.

Documents without a judgment (or with a negative one, trec_eval's "not judged") are taken out before ranks are counted:
trec_eval's -J. The divisor is R. A query without a relevant document does not count (NaN).
Source: PxYu/Pretraining-CLIR 269b3d3 finetune-search-5f.py, which scores all judged candidates with pytrec_eval's `map`
and leaves those queries out. Its mean over folds, weighted by their number of test queries, is the mean over queries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from stele.evaluation import guess as guessing
from stele.evaluation.case import Case
from stele.evaluation.requires import needs


@needs("judgments", "ap_judged")
def evaluate(case: Case, cut: str) -> np.ndarray:
    rows = enumerate(case.relevant)
    return np.array([average_precision(case.ranking(row), right) for row, right in rows], dtype=np.float64)


def average_precision(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Of one query, whose judgments are `relevant`; NaN where no document is relevant."""
    total = sum(relevance > 0 for relevance in relevant.values())
    if not total:
        return math.nan
    judged = [relevant[name] for name in ranking if relevant.get(name, -1) >= 0]
    ranks = [rank for rank, relevance in enumerate(judged, start=1) if relevance > 0]
    return math.fsum(hits / rank for hits, rank in enumerate(ranks, start=1)) / total


def guess(case: Case, cut: str) -> np.ndarray:
    """Of the judged documents that were ranked, in random order; NaN where a relevant one was not."""
    ranked = [[case.relevant[row].get(name, -1) for name in case.ranking(row)] for row in range(len(case.queries))]
    judged = [[relevance for relevance in of_query if relevance >= 0] for of_query in ranked]
    found = [[relevance for relevance in of_query if relevance > 0] for of_query in judged]
    totals = [sum(relevance > 0 for relevance in right.values()) for right in case.relevant]
    return np.array(
        [
            guessing.average_precision(len(all_ranked), relevant, len(all_ranked)) if len(relevant) == total else np.nan
            for all_ranked, relevant, total in zip(judged, found, totals, strict=True)
        ]
    )
