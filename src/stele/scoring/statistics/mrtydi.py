"""Mr. TyDi: queries of dev and test that have a judgment."""

from __future__ import annotations

from stele.benchmarks import mrtydi
from stele.benchmarks.types import Data, QuerySet
from stele.scoring.statistics._counting import number_of, present


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """queries_dev and queries_test by language; the languages that have a test query."""
    query_sets = mrtydi.query_sets(sorted(data[mrtydi.TOPICS]))
    queries = {
        f"queries_{split}": {s.language: _judged(data, s, split) for s in query_sets} for split in ("dev", "test")
    }
    return {**queries, "languages": present(queries["queries_test"])}


def _judged(data: Data, query_set: QuerySet, split: str) -> int:
    judged = mrtydi.judgments(data, query_set, split)
    queries = (query for query in mrtydi.queries(data, query_set, split) if query.id in judged)
    return number_of(queries, f"{split} queries of {query_set.language}")
