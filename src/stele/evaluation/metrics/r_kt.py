"""r@nkt of XOR-Retrieve: 1 if an answer is found within the first n thousand tokens of the retrieved passages.

Source: AkariAsai/XORQA c894f52 evals/eval_xor_retrieve.py `evaluate_top_k_hit`; `xor_text` has the tokens. An answer is
found when it is a substring of them, as it stands: case, accents and punctuation count, and the answer itself is not
tokenised. So an answer with a comma, a quotation mark or an 's can hardly ever be found; the official rule is kept as
it is (`r_tokenized@nkt` corrects it) and `notes` counts those questions. A question without a result counts as 0; the
official script leaves it out.
"""

from __future__ import annotations

import numpy as np

from stele.evaluation.case import Case
from stele.evaluation.requires import needs
from stele.evaluation.xor_text import first_tokens, span_answers, tokenizer


@needs("answers", "r@2kt")
def evaluate(case: Case, cut: str) -> np.ndarray:
    return np.array([_hit(case, row, cut) for row in range(len(case.queries))], dtype=np.float64)


def notes(case: Case) -> dict[str, int]:
    """How many counted questions have no answer that stays whole when a text around it is tokenised.

    The text is `x ANSWER y`; what stands beside an answer in a passage can differ, so the count is an estimate.
    """
    tokenize = tokenizer(case)
    questions = (span_answers(case, row) for row in range(len(case.queries)))
    never = [
        all(answer not in " ".join(tokenize(f"x {answer} y")) for answer in answers) for answers in questions if answers
    ]
    return {"never_found_by_the_official_rule": sum(never)}


def _hit(case: Case, row: int, cut: str) -> float:
    answers = span_answers(case, row)
    if not answers:
        return np.nan
    text = first_tokens(case, row, cut)
    return float(any(answer in text for answer in answers))
