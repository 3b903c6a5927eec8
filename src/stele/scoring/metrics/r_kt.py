"""r@nkt of XOR-Retrieve: 1 if an answer is found within the first n thousand tokens of the retrieved passages.

Source: AkariAsai/XORQA evals/eval_xor_retrieve.py `evaluate_top_k_hit`. The passages' texts (no titles) are cut into
tokens by NLTK's word_tokenize in rank order until n thousand are reached, cut at exactly n thousand, joined by
blanks; an answer is found when it is a substring of that, as it stands: case, accents and punctuation count, and the
answer itself is not tokenised (so one with a comma or a final full stop can hardly ever be found: some 12 % of the
dev questions; the official rule is kept as it is). "yes" and "no" are no answers here; a question with no other is
not counted (NaN). A question without a result counts as 0; the official script leaves it out.
"""

from __future__ import annotations

import numpy as np

from stele.scoring.case import Case
from stele.scoring.punkt import load_word_tokenizer

DATASET = "nltk_punkt"


def evaluate(case: Case, cut: str) -> np.ndarray:
    limit = int(cut.removesuffix("kt")) * 1000
    tokenize = case.once("word_tokenize", lambda: load_word_tokenizer(case.data, DATASET))
    return np.array([_hit(case, row, limit, tokenize) for row in range(len(case.queries))])


def _hit(case: Case, row: int, limit: int, tokenize) -> float:
    answers = [answer for answer in case.answers[row] if answer not in ("yes", "no")]
    if not answers:
        return np.nan
    pool, found = case.searches[row].pool, []
    for name in case.ranked[row]:
        # kept as one string: a list of tokens would take ten times the memory; a token never holds a blank
        text = case.once(("words", pool, name), lambda key=(pool, name): " ".join(tokenize(case.texts()[key])))
        found += text.split(" ") if text else []
        if len(found) >= limit:
            break
    text = " ".join(found[:limit])
    return float(any(answer in text for answer in answers))
