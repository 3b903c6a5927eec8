"""What a metric needs, said where it is defined and checked before it is computed: the kind of data, and its cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps

import numpy as np

from stele.errors import SteleError
from stele.evaluation.case import Case

Evaluate = Callable[[Case, str], np.ndarray]

KINDS = {
    "judgments": "rankings of judged passages",
    "answers": "rankings of passages that may hold an answer",
    "predictions": "answers to questions",
    "vectors": "pairs of embeddings",
}


def needs(kind: str, example: str) -> Callable[[Evaluate], Evaluate]:
    """Marks a metric's `evaluate`: `kind` is one of KINDS, `example` its name with a cut, if it has one ("mrr@100").

    Raises SteleError when it is computed without its cut, with one that it does not have, or of another kind of data.
    """
    name, at, wanted = example.partition("@")
    pattern = re.sub(r"\d+", r"[1-9]\\d*", wanted)

    def mark(evaluate: Evaluate) -> Evaluate:
        @wraps(evaluate)
        def checked(case: Case, cut: str) -> np.ndarray:
            if not re.fullmatch(pattern, cut):
                rule = f"want a cut, as in {example}" if at else "it has no cut"
                raise SteleError(f"metric {name}: {rule}; found {repr(cut) if cut else 'none'}")
            if kind not in (given := kinds_of(case)):
                here = " and ".join(KINDS[kind_of_data] for kind_of_data in given) or "none"
                raise SteleError(f"metric {name} scores {KINDS[kind]}; here are {here}")
            return evaluate(case, cut)

        return checked

    return mark


def kinds_of(case: Case) -> list[str]:
    """The kinds of data that a case has for all its queries."""
    rows = len(case.queries)
    ranked = case.rows_of.keys() <= case.runs.keys()
    has = {
        "judgments": ranked and len(case.relevant) == rows,
        "answers": ranked and len(case.answers) == rows,
        "predictions": len(case.predictions) == len(case.answers) == rows,
        "vectors": case.rows_of.keys() <= case.vectors.keys(),
    }
    return [kind for kind, there in has.items() if there]
