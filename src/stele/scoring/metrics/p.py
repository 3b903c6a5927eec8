"""p@k: relevant documents among the first k, over k, however few were retrieved (trec_eval P_k)."""

from __future__ import annotations

import numpy as np

from stele.scoring.case import Case
from stele.scoring.needs import needs
from stele.scoring.ranking import by_ranx


@needs("judgments", "p@20")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_ranx(case, "precision", cut)
