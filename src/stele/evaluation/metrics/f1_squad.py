"""f1_squad: f1 with SQuAD's normalisation in every language, as Yu et al.'s code scores MLQA.

Source: PxYu/Pretraining-CLIR 269b3d3 finetune-qa.py, by transformers' `squad_evaluate`: where prediction or answer has
no token, F1 is 1 if both have none, else 0 (SQuAD v1.1's own script gives 0). A question without a prediction scores 0
and counts, as in that script; `squad_evaluate` breaks off.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.qa_text import by_squad, exactly, overlap
from stele.evaluation.requires import needs


@needs("predictions", "f1_squad")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return by_squad(case, _f1)


def _f1(prediction: Sequence[str], answer: Sequence[str]) -> float:
    return overlap(prediction, answer) if prediction and answer else exactly(prediction, answer)
