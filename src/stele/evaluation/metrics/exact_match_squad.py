"""exact_match_squad: exact_match with SQuAD's normalisation in every language, as Yu et al.'s code scores MLQA.

Source: PxYu/Pretraining-CLIR 269b3d3 finetune-qa.py, by transformers' `squad_evaluate`. A question without a prediction
scores 0 and counts, as in SQuAD v1.1's script; `squad_evaluate` breaks off.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.qa_text import by_squad, exactly
from stele.evaluation.requires import needs


@needs("predictions", "exact_match_squad")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_squad(case, exactly)
