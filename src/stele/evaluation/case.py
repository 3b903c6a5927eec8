"""What a metric sees: every judged query of a benchmark with its canonical ranking and what counts as right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stele.artifacts.runs.run import Run
from stele.benchmarks.types import Data, QuerySet

Texts = Callable[[str, set[str]], Mapping[str, str]]  # collection, passage ids -> text by id


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
