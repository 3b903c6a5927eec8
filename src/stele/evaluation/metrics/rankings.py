"""Variants of average precision that some benchmarks define otherwise than trec_eval and ranx."""

import logging
import math
from collections.abc import Mapping, Sequence

import numpy as np

from stele.evaluation import guess
from stele.evaluation.metric import Case, Metric
from stele.evaluation.ranx_metrics import by_ranx

logger = logging.getLogger(__name__)


class CappedAveragePrecision(Metric):
    """map@k as LAReQA and Mewsli-X define it: the sum of precision at each hit among the first k, over min(R, k).

    Source: google-research/xtreme 838c13b third_party/utils_lareqa.py `average_precision_at_k`. ranx and trec_eval's
    map_cut divide by R, all relevant passages (that is `ap@k`); the two differ where a query has more than k. With one
    relevant passage, as in Mewsli-X (third_party/utils_mewslix.py), it is the reciprocal rank.
    """

    example = "map@20"

    def evaluate(self, case: Case) -> np.ndarray:
        relevant = np.array([sum(grade >= 1 for grade in judged.values()) for judged in case.relevant])
        divisor = np.clip(relevant, 1, int(self.cut))
        return by_ranx(case, "map", int(self.cut)) * np.maximum(relevant, 1) / divisor

    def guess(self, case: Case) -> np.ndarray:
        return guess.by_query(case, guess.capped_average_precision, int(self.cut))


class JudgedAveragePrecision(Metric):
    """ap_judged: average precision over the judged documents only, as for CLEF's re-ranking of judged candidates.

    Documents without a judgment (or with a negative one, trec_eval's "not judged") are taken out before ranks are
    counted: trec_eval's -J. The divisor is R. A query without a relevant document does not count (NaN).
    Source: PxYu/Pretraining-CLIR 269b3d3 finetune-search-5f.py, which scores all judged candidates with pytrec_eval's
    `map` and leaves those queries out. Its mean over folds, weighted by their number of test queries, is the mean over
    queries.
    """

    example = "ap_judged"

    def evaluate(self, case: Case) -> np.ndarray:
        grades = {grade for judged in case.relevant for grade in judged.values()}
        if 0 not in grades and any({*case.ranking(row)} - judged.keys() for row, judged in enumerate(case.relevant)):
            advice = "give the judgments of 0 too, or score runs of judged documents by ap@1000"
            logger.warning("ap_judged: only relevant documents are judged, so that any order of them has 1; %s", advice)
        values = [average_precision(case.ranking(row), judged) for row, judged in enumerate(case.relevant)]
        return np.array(values, dtype=np.float64)

    def guess(self, case: Case) -> np.ndarray:
        """Expected value of the ranked judged documents, shuffled, float64 [rows]; NaN if a relevant one is missing."""
        guesses = np.full(len(case.queries), np.nan)
        for row, judged in enumerate(case.relevant):
            grades = [judged[name] for name in case.ranking(row) if judged.get(name, -1) >= 0]
            relevant = [grade for grade in grades if grade > 0]
            if len(relevant) == sum(grade > 0 for grade in judged.values()):
                guesses[row] = guess.average_precision(len(grades), relevant, len(grades))
        return guesses


def average_precision(ranking: Sequence[str], judged: Mapping[str, int]) -> float:
    """Average precision of one query over its judged documents (`ap_judged`); NaN if no document is relevant."""
    total = sum(grade > 0 for grade in judged.values())
    if not total:
        return math.nan
    grades = [judged[name] for name in ranking if judged.get(name, -1) >= 0]
    ranks = [rank for rank, grade in enumerate(grades, start=1) if grade > 0]
    return math.fsum(hits / rank for hits, rank in enumerate(ranks, start=1)) / total
