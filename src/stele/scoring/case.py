"""What a metric sees: every judged query of a benchmark with its canonical ranking and what counts as right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from stele import records
from stele.benchmarks.types import Data, Search
from stele.errors import SteleError
from stele.runs import read_run, runs_of


@dataclass
class Case:
    """All searches of one retrieval, flattened: entry i of each list belongs to judged query i.

    `relevant` (passage id -> relevance) or `answers` is filled, as the benchmark judges. A judged query without a
    result has an empty ranking and stays in every mean. `memo` keeps what several metrics share.
    """

    benchmark: ModuleType
    data: Data
    searches: list[Search] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    ranked: list[list[str]] = field(default_factory=list)
    relevant: list[dict[str, int]] = field(default_factory=list)
    answers: list[list[str]] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    extra: int = 0
    memo: dict[Any, Any] = field(default_factory=dict)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """`make()`, computed the first time it is asked for under `key`."""
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def texts(self) -> dict[tuple[str, str], str]:
        """(pool, passage id) -> text of every passage retrieved, read from the collection in one pass a pool."""
        return self.once("texts", self._texts)

    def _texts(self) -> dict[tuple[str, str], str]:
        wanted: dict[str, set[str]] = {}
        for search, names in zip(self.searches, self.ranked, strict=True):
            wanted.setdefault(search.pool, set()).update(names)
        found = {}
        for pool, names in wanted.items():
            for name, text in self.benchmark.texts(self.data, pool, names).items():
                found[pool, name] = text
        return found


def read_case(benchmark: ModuleType, data: Data, retrieval: Path) -> Case:
    """The case of one retrieval record. Queries of the run that are not judged are left out and counted as `extra`.

    Of a limited retrieval only the queries that were searched are judged.
    """
    record = records.read_record(retrieval)
    if not isinstance(record.get("searches"), dict) or not record["searches"]:
        raise SteleError(f"{retrieval}: not a retrieval record: it names no searches")
    limited = records.LIMITED in record.get("labels", ())
    case = Case(benchmark, data)
    for name, path in runs_of(record, retrieval.parent).items():
        facts = record["searches"][name]
        _add(case, Search(name, facts["language"], facts["pool"]), path, limited)
    if not case.queries:
        raise SteleError(f"{retrieval}: none of its queries is judged; the judgments are of other data")
    return case


def _add(case: Case, search: Search, path: Path, limited: bool) -> None:
    run = read_run(path)
    by_answers = hasattr(case.benchmark, "answers")
    judged = (case.benchmark.answers if by_answers else case.benchmark.judgments)(case.data, search)
    if limited:
        judged = {query: right for query, right in judged.items() if query in run}
    case.missing[search.name] = sum(query not in run for query in judged)
    case.extra += sum(query not in judged for query in run)
    for query, right in judged.items():
        case.searches.append(search)
        case.queries.append(query)
        case.ranked.append([name for name, _ in run.get(query, ())])
        (case.answers if by_answers else case.relevant).append(right)
