"""A metric, and the case that it sees: every judged query of a benchmark with its ranking and what counts as right.

What a metric needs, the kind of data and its cut, is checked before it is computed.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from stele.artifacts.run import Run
from stele.benchmarks.types import Data, QuerySet
from stele.errors import SteleError

Texts = Callable[[str, set[str]], Mapping[str, str]]  # collection, passage ids -> text by id
KINDS = {
    "judgments": "rankings of judged passages",
    "answers": "rankings of passages that may hold an answer",
    "predictions": "answers to questions",
    "vectors": "pairs of embeddings",
}


@dataclass
class Case:
    """All query sets of a system on one benchmark, flattened: row i of each list belongs to judged query i.

    Of `relevant` (passage id -> relevance) and `answers` one is filled, as the benchmark judges. What the system gave
    is in `runs` (by query set), in `predictions` (its answer; None where it gave none), or in `vectors` (by query set:
    two float32 arrays [n, d] whose lines belong together). `candidates` is how many passages a query set was searched
    in, where that is known. A judged query without a result stays in every mean. `memo`
    keeps what several metrics share.
    """

    data: Data = field(default_factory=dict)
    query_sets: list[QuerySet] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    relevant: list[Mapping[str, int]] = field(default_factory=list)
    answers: list[list[str]] = field(default_factory=list)
    runs: dict[str, Run] = field(default_factory=dict)
    predictions: list[str | None] = field(default_factory=list)
    vectors: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    candidates: dict[str, int] = field(default_factory=dict)
    texts_of: Texts | None = None
    rows_of: dict[str, range] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    extra: int = 0
    memo: dict[Any, Any] = field(default_factory=dict)

    def add(self, query_set: QuerySet, queries: list[str]) -> None:
        """Adds the judged queries of one query set; what belongs to them is added beside, in the same order."""
        start = len(self.queries)
        self.query_sets += [query_set] * len(queries)
        self.queries += queries
        self.rows_of[query_set.name] = range(start, len(self.queries))

    def ranking(self, row: int) -> list[str]:
        """The passage ids that were retrieved for a query, best first; [] where there is no result."""
        return self.runs[self.query_sets[row].name].ranking(self.queries[row])

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """`make()`, computed once for each `key`."""
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def texts(self) -> dict[tuple[str, str], str]:
        """(collection, passage id) -> text of every passage retrieved; each collection is read once."""
        return self.cached("texts", self._texts)

    def _texts(self) -> dict[tuple[str, str], str]:
        wanted: dict[str, set[str]] = {}
        for row, query_set in enumerate(self.query_sets):
            wanted.setdefault(query_set.collection, set()).update(self.ranking(row))
        return {
            (collection, name): text
            for collection, names in wanted.items()
            for name, text in self.texts_of(collection, names).items()
        }


class Metric(ABC):
    """A metric at a cut: one value for each judged query, NaN for a query that does not count.

    A subclass defines `evaluate`, `example` (its name, with a cut if it has one: "mrr@100", "r@2kt", "accuracy") and
    `needs` (the kind of data, a key of KINDS). `finish` maps the mean over queries to the metric's value, where they
    differ. `guessed` describes for readers what `guess` scores.
    """

    example: ClassVar[str] = ""
    needs: ClassVar[str] = "judgments"
    finish: ClassVar[Callable[[float], float] | None] = None
    guessed: ClassVar[str] = "a random ranking"

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

    @abstractmethod
    def evaluate(self, case: Case) -> np.ndarray:
        """float64 [rows]: the values, computed; `case` holds what the metric needs."""

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
