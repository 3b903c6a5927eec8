"""What a metric is, and what it needs: the kind of data, and its cut, both checked before it is computed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from stele.errors import SteleError
from stele.evaluation.case import Case

KINDS = {
    "judgments": "rankings of judged passages",
    "answers": "rankings of passages that may hold an answer",
    "predictions": "answers to questions",
    "vectors": "pairs of embeddings",
}


class Metric:
    """A metric at a cut: one value for each judged query, NaN for a query that does not count.

    A subclass says what it is called, with a cut if it has one (`example`: "mrr@100", "r@2kt", "accuracy"), and which
    kind of data it needs (a key of KINDS), and defines `evaluate`. `finish` turns a mean over queries into the metric's
    value, where that is not the mean itself.
    """

    example: ClassVar[str] = ""
    needs: ClassVar[str] = "judgments"
    finish: ClassVar[Callable[[float], float] | None] = None

    def __init__(self, cut: str = "") -> None:
        self.cut = cut

    def values(self, case: Case) -> np.ndarray:
        """float64 [rows]: the value of each judged query, NaN where it does not count.

        Raises SteleError where the metric is without its cut, has one that it should not have, or the case holds
        another kind of data.
        """
        name, at, cut = self.example.partition("@")
        if not re.fullmatch(re.sub(r"\d+", r"[1-9]\\d*", cut), self.cut):
            rule = f"want a cut, as in {self.example}" if at else "it has no cut"
            raise SteleError(f"metric {name}: {rule}; found {repr(self.cut) if self.cut else 'none'}")
        if self.needs not in (kinds := kinds_of(case)):
            held = " and ".join(KINDS[kind] for kind in kinds) or "none"
            raise SteleError(f"metric {name} scores {KINDS[self.needs]}; here are {held}")
        return self.evaluate(case)

    def evaluate(self, case: Case) -> np.ndarray:
        """float64 [rows]: the values, computed; `case` holds what the metric needs."""
        raise NotImplementedError

    def guess(self, case: Case) -> np.ndarray | None:
        """float64 [rows]: what a guess scores on each query, NaN where it is unknown; None where there is none."""
        return None

    def notes(self, case: Case) -> dict[str, int]:
        """Counts that a reader of the metric's value should know."""
        return {}


def kinds_of(case: Case) -> list[str]:
    """The kinds of data that a case holds for all its queries."""
    rows = len(case.queries)
    ranked = case.rows_of.keys() <= case.runs.keys()
    complete = {
        "judgments": ranked and len(case.relevant) == rows,
        "answers": ranked and len(case.answers) == rows,
        "predictions": len(case.predictions) == len(case.answers) == rows,
        "vectors": case.rows_of.keys() <= case.vectors.keys(),
    }
    return [kind for kind in KINDS if complete[kind]]
