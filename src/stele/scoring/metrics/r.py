"""r@k of open-domain question answering: 1 if one of the first k passages holds an answer (DPR's `has_answer`).

Source: facebookresearch/DPR dpr/data/qa_validation.py with match type "string", and its SimpleTokenizer: text and
answer in NFD, cut into runs of letters, numbers and marks or single other characters, lower-cased; an answer is held
when its tokens follow one another in the passage's text (the title does not count). An answer without a token is
always held.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import regex

from stele.scoring.case import Case

_TOKEN = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")


def evaluate(case: Case, cut: str) -> np.ndarray:
    ranks = case.once("first answer", lambda: np.array([_first_rank(case, row) for row in range(len(case.queries))]))
    return (ranks <= int(cut)).astype(np.float64)


def tokens(text: str) -> list[str]:
    """The tokens of a text.

    >>> tokens("L'homme (1914)")
    ['l', "'", 'homme', '(', '1914', ')']
    """
    return [token.lower() for token in _TOKEN.findall(unicodedata.normalize("NFD", text))]


def holds(text: Sequence[str], answer: Sequence[str]) -> bool:
    """Whether the tokens of `answer` follow one another in those of `text`."""
    width = len(answer)
    return any(text[i : i + width] == answer for i in range(len(text) - width + 1))


def _first_rank(case: Case, row: int) -> float:
    """The rank (from 1) of the first passage that holds an answer, else infinity."""
    answers, pool = [tokens(answer) for answer in case.answers[row]], case.searches[row].pool
    for rank, name in enumerate(case.ranked[row], start=1):
        text = case.once(("tokens", pool, name), lambda key=(pool, name): tokens(case.texts()[key]))
        if any(holds(text, answer) for answer in answers):
            return rank
    return np.inf
