"""r_tokenized@nkt: r@nkt of XOR-Retrieve with its answers tokenised like the passages; not the official score.

The official rule (`r@nkt`) looks for the raw answer in tokenised text, where "Moscow, Russia" has become
"Moscow , Russia". Here an answer is also found when its own word_tokenize tokens, joined by blanks, stand there, so a
question never scores lower than by the official rule.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.requires import needs
from stele.evaluation.xor_text import first_tokens, span_answers, tokenizer


@needs("answers", "r_tokenized@2kt")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return np.array([_hit(case, row, cut) for row in range(len(case.queries))], dtype=np.float64)


def _hit(case: Case, row: int, cut: str) -> float:
    answers = span_answers(case, row)
    if not answers:
        return np.nan
    tokenize = tokenizer(case)
    # an answer of white space has no token, and nothing would be found everywhere
    forms = {*answers, *filter(None, (" ".join(tokenize(answer)) for answer in answers))}
    text = first_tokens(case, row, cut)
    return float(any(form in text for form in forms))
