"""recall@k: the share of a query's relevant passages that are among the first k (trec_eval recall_k)."""

from __future__ import annotations

import numpy as np

from stele.scoring.case import Case
from stele.scoring.needs import needs
from stele.scoring.ranking import by_ranx


@needs("judgments", "recall@100")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "recall", cut)
