"""Predicted answers against gold answers: the normalisations of MLQA and of SQuAD, and what compares two answers.

MLQA: facebookresearch/MLQA 24bf470 mlqa_evaluation_v1.py, by the language of the answer (that of the context).
SQuAD: `squad_evaluate` of huggingface/transformers data/metrics/squad_metrics.py, up to version 4, whose normalisation
is that of SQuAD v1.1's own script. Both: lower case, no punctuation, no articles, split at white space.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from stele.errors import SteleError, unknown
from stele.evaluation.case import Case

_ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": "ال",  # everywhere, inside a word too: the script's `\sال^|ال` can only match by its second half
    "hi": None,
    "zh": None,
}
Compare = Callable[[Sequence[str], Sequence[str]], float]

_HAN = re.compile("([\u4e00-\u9fa5])")
_ASCII = str.maketrans("", "", string.punctuation)


def mlqa_tokens(text: str, language: str) -> list[str]:
    """The tokens of an answer as MLQA compares them; in Chinese each of U+4E00 to U+9FA5 is a token.

    Punctuation is Unicode's (categories P*) and ASCII's: "$" is left out, "€" stays.

    >>> mlqa_tokens("The «cost»: $5 or €4", "en"), mlqa_tokens("3个人", "zh")
    (['cost', '5', 'or', '€4'], ['3', '个', '人'])
    """
    if language not in _ARTICLES:
        raise unknown("MLQA answer language", language, _ARTICLES)
    kept = "".join(character for character in text.lower() if not _is_punctuation(character))
    articles = _ARTICLES[language]
    kept = re.sub(articles, " ", kept) if articles else kept
    return (_HAN.sub(r" \1 ", kept) if language == "zh" else kept).split()


def squad_tokens(text: str) -> list[str]:
    """The tokens of an answer as SQuAD compares them, whatever its language: ASCII punctuation, English articles.

    >>> squad_tokens("The «cost»: $5")
    ['«cost»', '5']
    """
    return re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_ASCII)).split()


def exactly(prediction: Sequence[str], answer: Sequence[str]) -> float:
    """1.0 where the tokens are the same, none on both sides included."""
    return float(prediction == answer)


def overlap(prediction: Sequence[str], answer: Sequence[str]) -> float:
    """F1 of two bags of tokens; 0 where they share none, so also where both are empty."""
    common = (Counter(prediction) & Counter(answer)).total()
    if not common:
        return 0.0
    precision, recall = common / len(prediction), common / len(answer)
    return 2 * precision * recall / (precision + recall)


def by_mlqa(case: Case, compare: Compare) -> np.ndarray:
    """The best of a prediction over a question's answers [rows], tokenised by MLQA; 0 where there is no prediction.

    The language of the answers is the collection of the query set. Raises SteleError for a language that MLQA does not
    have, and for a question without a gold answer.
    """
    for query_set in set(case.query_sets):
        mlqa_tokens("", query_set.collection)
    if not all(case.answers):
        query = case.queries[[bool(answers) for answers in case.answers].index(False)]
        raise SteleError(f"question {query!r} has no gold answer; MLQA's script cannot score it")
    rows = zip(case.query_sets, case.predictions, case.answers, strict=True)
    return np.array(
        [
            _best(prediction, answers, compare, lambda text, language=query_set.collection: mlqa_tokens(text, language))
            for query_set, prediction, answers in rows
        ],
        dtype=np.float64,
    )


def by_squad(case: Case, compare: Compare) -> np.ndarray:
    """The best of a prediction over a question's answers [rows], tokenised by SQuAD; 0 where there is no prediction.

    Answers without a token are left out; where none is left, the right prediction is one without a token.
    """
    rows = zip(case.predictions, case.answers, strict=True)
    values = [
        _best(prediction, list(filter(squad_tokens, gold)) or [""], compare, squad_tokens) for prediction, gold in rows
    ]
    return np.array(values, dtype=np.float64)


def _best(
    prediction: str | None, answers: Sequence[str], compare: Compare, tokens: Callable[[str], list[str]]
) -> float:
    if prediction is None:
        return 0.0
    return max(compare(tokens(prediction), tokens(answer)) for answer in answers)


@cache
def _is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")
