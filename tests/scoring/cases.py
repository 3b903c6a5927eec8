"""Cases from plain lists, and a metric's values on them."""

from __future__ import annotations

from stele.artifacts.runs.run import run_of
from stele.benchmarks.types import Search
from stele.evaluation.case import Case
from stele.evaluation.evaluate import evaluator


def case_of(
    ranked=(), relevant=(), answers=(), texts=None, searches=None, predictions=(), vectors=None, data=None
) -> Case:
    """Row i: `ranked[i]` passage ids best first, and what is right; `texts` is passage id -> text of the one pool."""
    rows = max(len(ranked), len(relevant), len(answers), len(predictions), len(searches or ()))
    searches = searches or [Search("s", "en", "p")] * rows
    queries = [str(row) for row in range(rows)]
    hits: dict[str, dict] = {search.name: {} for search in searches}
    for search, query, names in zip(searches, queries, ranked, strict=False):
        hits[search.name][query] = [(name, -float(rank)) for rank, name in enumerate(names)]
    return Case(
        data=data or {},
        searches=list(searches),
        queries=queries,
        relevant=list(relevant),
        answers=list(answers),
        runs={name: run_of(own) for name, own in hits.items()},
        predictions=list(predictions),
        vectors=vectors or {},
        texts_of=lambda pool, names: {name: texts[name] for name in names},
        rows_of=_rows_of([search.name for search in searches]),
    )


def _rows_of(names: list[str]) -> dict[str, range]:
    """Search -> its rows, which must stand together."""
    rows = {name: range(names.index(name), len(names) - names[::-1].index(name)) for name in dict.fromkeys(names)}
    assert sum(map(len, rows.values())) == len(names), f"the rows of a search must stand together: {names}"
    return rows


def score(metric: str, **given) -> list[float]:
    """The values per query of a metric called `name@cut`."""
    return evaluator(metric).values(case_of(**given)).tolist()
