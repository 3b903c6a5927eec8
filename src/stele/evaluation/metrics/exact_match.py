"""exact_match: whether prediction and one of the answers are the same tokens by MLQA's per-language rules.

Source: facebookresearch/MLQA 24bf470 mlqa_evaluation_v1.py. A question without a prediction scores 0 and counts.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.qa_text import by_mlqa, exactly
from stele.evaluation.requires import needs


@needs("predictions", "exact_match")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_mlqa(case, exactly)
