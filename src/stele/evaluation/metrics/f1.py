"""f1: overlap of the tokens of prediction and answer by MLQA's per-language rules, the best over the answers.

Source: facebookresearch/MLQA 24bf470 mlqa_evaluation_v1.py. A question without a prediction scores 0 and counts; a
prediction without a token scores 0, even where the answer has none either.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.qa_text import by_mlqa, overlap
from stele.evaluation.requires import needs


@needs("predictions", "f1")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_mlqa(case, overlap)
