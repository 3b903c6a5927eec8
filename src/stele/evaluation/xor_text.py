"""What XOR-Retrieve's two metrics share: a question's answers, and the text in which they are looked for.

Source: AkariAsai/XORQA c894f52 evals/eval_xor_retrieve.py `evaluate_top_k_hit`. The passages' texts (no titles) are cut
into tokens by NLTK's word_tokenize in rank order until n thousand are reached, cut at exactly n thousand, and joined by
blanks. "yes" and "no" (as written) are no answers here; a question with no other is not counted.
"""

from __future__ import annotations

from collections.abc import Callable

from stele.evaluation.case import Case
from stele.evaluation.punkt import load_word_tokenizer

DATASET = "nltk_punkt"

Tokenize = Callable[[str], list[str]]


def tokenizer(case: Case) -> Tokenize:
    """NLTK's word_tokenize with the Punkt model among the case's data."""
    return case.once("word_tokenize", lambda: load_word_tokenizer(case.data, DATASET))


def span_answers(case: Case, row: int) -> list[str]:
    """The answers of a question that can stand in a text; [] where the question is not counted."""
    return [answer for answer in case.answers[row] if answer not in ("yes", "no")]


def first_tokens(case: Case, row: int, cut: str) -> str:
    """The first tokens of a question's retrieved passages, joined by blanks; cut "2kt" is exactly 2,000 of them."""
    return case.once(("first tokens", row, cut), lambda: _first_tokens(case, row, cut))


def _first_tokens(case: Case, row: int, cut: str) -> str:
    limit, collection, tokens = int(cut.removesuffix("kt")) * 1000, case.query_sets[row].collection, []
    tokenize = tokenizer(case)
    for name in case.ranking(row):
        # kept as one string: a list of tokens would take ten times the memory; a token never holds a blank
        text = case.once(
            ("words", collection, name), lambda key=(collection, name): " ".join(tokenize(case.texts()[key]))
        )
        tokens += text.split(" ") if text else []
        if len(tokens) >= limit:
            break
    return " ".join(tokens[:limit])
