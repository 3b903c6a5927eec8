"""mrr@k: 1 / rank of the first relevant passage among the first k, else 0 (trec_eval recip_rank with -M k)."""

from __future__ import annotations

import numpy as np

from stele.scoring.case import Case
from stele.scoring.needs import needs
from stele.scoring.ranking import by_ranx


@needs("judgments", "mrr@100")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "mrr", cut)
