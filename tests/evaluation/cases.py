"""Cases from plain lists, and a metric's values on them."""

from stele.artifacts.run import run_of
from stele.benchmarks.types import QuerySet
from stele.evaluation.metric import Case
from stele.evaluation.metrics import load_metric


def case_of(
    ranked=(), relevant=(), answers=(), texts=None, query_sets=None, predictions=(), vectors=None, data=None
) -> Case:
    """Row i: `ranked[i]` passage ids best first, and what is right; `texts` is passage id -> text."""
    rows = max(len(ranked), len(relevant), len(answers), len(predictions), len(query_sets or ()))
    query_sets = query_sets or [QuerySet("s", "en", "p")] * rows
    queries = [str(row) for row in range(rows)]
    hits: dict[str, dict] = {query_set.name: {} for query_set in query_sets}
    for query_set, query, names in zip(query_sets, queries, ranked, strict=False):
        hits[query_set.name][query] = [(name, -float(rank)) for rank, name in enumerate(names)]
    return Case(
        data=data or {},
        query_sets=list(query_sets),
        queries=queries,
        relevant=list(relevant),
        answers=list(answers),
        runs={name: run_of(one) for name, one in hits.items()},
        predictions=list(predictions),
        vectors=vectors or {},
        texts_of=lambda collection, names: {name: texts[name] for name in names},
        rows_of=_rows_of([query_set.name for query_set in query_sets]),
    )


def _rows_of(names: list[str]) -> dict[str, range]:
    """Query set -> its rows, which must stand together."""
    rows = {name: range(names.index(name), len(names) - names[::-1].index(name)) for name in dict.fromkeys(names)}
    assert sum(map(len, rows.values())) == len(names), f"the rows of a query set must stand together: {names}"
    return rows


def score(metric: str, **given) -> list[float]:
    """The values per query of a metric called `name@cut`."""
    return load_metric(metric).values(case_of(**given)).tolist()
