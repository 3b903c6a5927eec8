"""`Metric`, the base of all metrics, and `Case`, its input: all judged queries of a benchmark and a system's output.

The kind of data and the cut that a metric needs are checked before it is computed.
"""

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
    """Judgments and outputs of one system on all query sets of a benchmark: entry i of each list is of judged query i.

    The benchmark's judgments fill either `relevant` (passage id -> relevance) or `answers`. The system's output is in
    `runs` (by query set), in `predictions` (its answer; None if it gave none), or in `vectors` (by query set: two
    float32 arrays [n, d] whose rows belong together). `candidates` is the number of passages that a query set was
    searched in, if known. A judged query without a result stays in every mean. `memo` caches intermediate results that
    several metrics share.
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
        """Adds the judged queries of one query set; the caller adds their judgments and outputs, in the same order."""
        start = len(self.queries)
        self.query_sets += [query_set] * len(queries)
        self.queries += queries
        self.rows_of[query_set.name] = range(start, len(self.queries))

    def ranking(self, row: int) -> list[str]:
        """Ids of the passages retrieved for the query of a row, best first; empty if it has no result."""
        return self.runs[self.query_sets[row].name].ranking(self.queries[row])

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """Returns `make()`, computed once for each `key`."""
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def texts(self) -> dict[tuple[str, str], str]:
        """Texts of all retrieved passages, by (collection, passage id); each collection is read once."""
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
    differ. `guessed` describes for readers what `guess` scores; `unguessed` says why a metric has no chance level.
    """

    example: ClassVar[str] = ""
    needs: ClassVar[str] = "judgments"
    finish: ClassVar[Callable[[float], float] | None] = None
    guessed: ClassVar[str] = "a random ranking"
    unguessed: str = ""

    def __init__(self, cut: str = "") -> None:
        self.cut = cut

    def check_cut(self) -> None:
        """Raises SteleError if the metric lacks the cut that it needs, or has a cut that it does not take."""
        name, at, cut = self.example.partition("@")
        if not re.fullmatch(re.sub(r"\d+", r"[1-9]\\d*", cut), self.cut):
            rule = f"want a cut, as in {self.example}" if at else "it has no cut"
            raise SteleError(f"metric {name}: {rule}; found {repr(self.cut) if self.cut else 'none'}")

    def values(self, case: Case) -> np.ndarray:
        """Value of each judged query, float64 [rows]; NaN if the query does not count.

        Raises SteleError if the metric needs data of a kind that the case does not hold, or gives another number of
        values.
        """
        name = self.example.partition("@")[0]
        if self.needs not in (kinds := kinds_of(case)):
            available = " and ".join(KINDS[kind] for kind in kinds) or "none"
            raise SteleError(f"metric {name} scores {KINDS[self.needs]}; found {available}")
        values = np.asarray(self.evaluate(case), dtype=np.float64)
        if values.shape != (rows := (len(case.queries),)):
            raise SteleError(f"metric {name}: want a value for each query, shape {rows}; found {values.shape}")
        return values

    @abstractmethod
    def evaluate(self, case: Case) -> np.ndarray:
        """Computes the value of each judged query, float64 [rows]; `case` holds all data that the metric needs."""

    def guess(self, case: Case) -> np.ndarray | None:
        """Chance level of each query, float64 [rows], NaN if unknown; None if the metric has no chance level."""
        return None

    def notes(self, case: Case) -> dict[str, int]:
        """Counts that a reader of the metric's value should know, by name."""
        return {}


def kinds_of(case: Case) -> list[str]:
    """Kinds of data (keys of KINDS) that a case holds for all its queries."""
    rows = len(case.queries)
    ranked = case.rows_of.keys() <= case.runs.keys()
    complete = {
        "judgments": ranked and len(case.relevant) == rows,
        "answers": ranked and len(case.answers) == rows,
        "predictions": len(case.predictions) == len(case.answers) == rows,
        "vectors": case.rows_of.keys() <= case.vectors.keys(),
    }
    return [kind for kind in KINDS if complete[kind]]
