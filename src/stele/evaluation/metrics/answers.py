"""Scores of predicted answers against gold answers, by MLQA's rules and by SQuAD's.

MLQA: facebookresearch/MLQA 24bf470 mlqa_evaluation_v1.py, by the language of the answer (that of the context).
SQuAD: `squad_evaluate` of huggingface/transformers data/metrics/squad_metrics.py, up to version 4, whose normalisation
is that of SQuAD v1.1's own script; Yu et al. score MLQA so (PxYu/Pretraining-CLIR 269b3d3 finetune-qa.py).
Both: lower case, no punctuation, no articles, split at white space; the best value over the gold answers. A question
without a prediction scores 0 and counts, as in both scripts (`squad_evaluate` stops with an error).
"""

import re
import string
import unicodedata
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np

from stele.errors import SteleError, check_known
from stele.evaluation import guess
from stele.evaluation.metric import Case, Metric

_ARTICLES = {
    "en": r"\b(a|an|the)\b",
    "es": r"\b(un|una|unos|unas|el|la|los|las)\b",
    "vi": r"\b(của|là|cái|chiếc|những)\b",
    "de": r"\b(ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des)\b",
    "ar": "ال",  # everywhere, inside a word too: the script's `\sال^|ال` can only match by its second half
    "hi": None,
    "zh": None,
}
_HAN = re.compile("([\u4e00-\u9fa5])")
_ASCII = str.maketrans("", "", string.punctuation)

Tokens = list[str]
# tokens of each question's prediction (None without one), and of each of its gold answers
Tokenized = tuple[list[Tokens | None], list[list[Tokens]]]


class AnswerMetric(Metric):
    """Base of metrics that compare a prediction with each gold answer."""

    needs = "predictions"
    guessed = "the answers to other questions"

    def evaluate(self, case: Case) -> np.ndarray:
        return self._best(*self.tokenized(case))

    def guess(self, case: Case) -> np.ndarray:
        """Chance level of each question, float64 [rows]: its mean score with predictions for others of its set."""
        predictions, gold = self.tokenized(case)
        return guess.by_others(
            case, lambda row: True, lambda sources: self._best([predictions[row] for row in sources], gold)
        )

    @abstractmethod
    def tokenized(self, case: Case) -> Tokenized:
        """Tokenises the predictions and the gold answers of a case."""

    def compare(self, prediction: Tokens, answer: Tokens) -> float:
        """Scores a prediction against one gold answer: whether both are the same tokens (also if both have none)."""
        return float(prediction == answer)

    def _best(self, predictions: Sequence[Tokens | None], gold: Sequence[Sequence[Tokens]]) -> np.ndarray:
        """Best score of each prediction over its gold answers, float64 [rows]; 0 without a prediction."""
        values = np.zeros(len(gold))
        for row, prediction in enumerate(predictions):
            if prediction is not None:
                values[row] = max(self.compare(prediction, answer) for answer in gold[row])
        return values


class MlqaExactMatch(AnswerMetric):
    """exact_match: whether prediction and one of the answers are the same tokens by MLQA's per-language rules."""

    example = "exact_match"

    def tokenized(self, case: Case) -> Tokenized:
        return case.cached("mlqa", lambda: by_mlqa(case))


class MlqaF1(MlqaExactMatch):
    """f1: overlap of the tokens; a prediction without a token scores 0, even where the answer has none either."""

    example = "f1"

    def compare(self, prediction: Tokens, answer: Tokens) -> float:
        return overlap(prediction, answer)


class SquadExactMatch(AnswerMetric):
    """exact_match_squad: exact_match with SQuAD's normalisation in every language."""

    example = "exact_match_squad"

    def tokenized(self, case: Case) -> Tokenized:
        return case.cached("squad", lambda: by_squad(case))


class SquadF1(SquadExactMatch):
    """f1_squad: where prediction or answer has no token, F1 is 1 if both have none, else 0 (SQuAD v1.1's script: 0)."""

    example = "f1_squad"

    def compare(self, prediction: Tokens, answer: Tokens) -> float:
        return overlap(prediction, answer) if prediction and answer else super().compare(prediction, answer)


def overlap(prediction: Tokens, answer: Tokens) -> float:
    """F1 of two bags of tokens; 0 where they share none, so also where both are empty."""
    common = (Counter(prediction) & Counter(answer)).total()
    if not common:
        return 0.0
    precision, recall = common / len(prediction), common / len(answer)
    return 2 * precision * recall / (precision + recall)


def by_mlqa(case: Case) -> Tokenized:
    """Tokenises a case by MLQA's rules for the language of the answers, which is the collection of the query set.

    Raises SteleError for a language that MLQA does not have, and for a question without a gold answer.
    """
    predictions: list[Tokens | None] = []
    gold: list[list[Tokens]] = []
    for row, query_set in enumerate(case.query_sets):
        if not case.answers[row]:
            raise SteleError(f"question {case.queries[row]!r} has no gold answer; MLQA's script cannot score it")
        language, prediction = query_set.collection, case.predictions[row]
        predictions.append(None if prediction is None else mlqa_tokens(prediction, language))
        gold.append([mlqa_tokens(answer, language) for answer in case.answers[row]])
    return predictions, gold


def by_squad(case: Case) -> Tokenized:
    """Tokenises a case by SQuAD's rules.

    Gold answers without a token are left out; if none is left, a prediction without a token is right.
    """
    predictions = [None if text is None else squad_tokens(text) for text in case.predictions]
    gold = [list(filter(None, map(squad_tokens, answers))) or [[]] for answers in case.answers]
    return predictions, gold


def mlqa_tokens(text: str, language: str) -> Tokens:
    """The tokens of an answer as MLQA compares them; in Chinese each of U+4E00 to U+9FA5 is a token.

    Punctuation is Unicode's (categories P*) and ASCII's: "$" is left out, "€" stays. Raises SteleError for a language
    that MLQA does not have.

    >>> mlqa_tokens("The «cost»: $5 or €4", "en"), mlqa_tokens("3个人", "zh")
    (['cost', '5', 'or', '€4'], ['3', '个', '人'])
    """
    check_known("MLQA answer language", language, _ARTICLES)
    bare = "".join(character for character in text.lower() if not _is_punctuation(character))
    if articles := _ARTICLES[language]:
        bare = re.sub(articles, " ", bare)
    return (_HAN.sub(r" \1 ", bare) if language == "zh" else bare).split()


def squad_tokens(text: str) -> Tokens:
    """The tokens of an answer as SQuAD compares them, whatever its language: ASCII punctuation, English articles.

    >>> squad_tokens("The «cost»: $5")
    ['«cost»', '5']
    """
    return re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_ASCII)).split()


@cache
def _is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")
