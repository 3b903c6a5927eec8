"""Mr. TyDi: queries of dev and test that have a judgment."""

from __future__ import annotations

from stele.benchmarks import mrtydi
from stele.benchmarks.types import Data, Search
from stele.scoring.statistics._counting import number_of, present


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """queries_dev and queries_test by language; the languages that have a test query."""
    searches = mrtydi.searches(sorted(data[mrtydi.TOPICS]))
    found = {f"queries_{split}": {s.language: _judged(data, s, split) for s in searches} for split in ("dev", "test")}
    return {**found, "languages": present(found["queries_test"])}


def _judged(data: Data, search: Search, split: str) -> int:
    judged = mrtydi.judgments(data, search, split)
    queries = (query for query in mrtydi.queries(data, search, split) if query.id in judged)
    return number_of(queries, f"{split} queries of {search.language}")
