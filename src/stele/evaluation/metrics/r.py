"""r@k of open-domain question answering: 1 if one of the first k passages holds an answer (DPR's `has_answer`).

Source: facebookresearch/DPR a31212d dpr/data/qa_validation.py with match type "string", and its SimpleTokenizer
(dpr/utils/tokenizers.py): text and answer in NFD, cut into runs of letters, numbers and marks or single other
characters, lower-cased; an answer is held when its tokens follow one another in the passage's text (the title does not
count). An answer without a token is held by every passage. A question without a result counts as 0.
"""

from __future__ import annotations

import unicodedata

import numpy as np
import regex

from stele.evaluation.case import Case
from stele.evaluation.requires import needs

_TOKEN = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")
_END = "\0"  # a control character, so in no token


@needs("answers", "r@20")
def evaluate(case: Case, cut: str) -> np.ndarray:
    ranks = case.once("first answer", lambda: np.array([_first_rank(case, row) for row in range(len(case.queries))]))
    return (ranks <= int(cut)).astype(np.float64)


def tokens(text: str) -> list[str]:
    """The tokens of a text.

    >>> tokens("L'homme (1914)")
    ['l', "'", 'homme', '(', '1914', ')']
    """
    return [token.lower() for token in _TOKEN.findall(unicodedata.normalize("NFD", text))]


def _joined(text: str) -> str:
    """A text's tokens, each between two ends: one such string is within another where its tokens follow one another."""
    return _END + "".join(token + _END for token in tokens(text))


def _first_rank(case: Case, row: int) -> float:
    """The rank (from 1) of the first passage that holds an answer, else infinity."""
    answers, collection = [_joined(answer) for answer in case.answers[row]], case.query_sets[row].collection
    for rank, name in enumerate(case.ranking(row), start=1):
        text = case.once(("tokens", collection, name), lambda key=(collection, name): _joined(case.texts()[key]))
        if any(answer in text for answer in answers):
            return rank
    return np.inf
