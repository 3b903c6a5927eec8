"""Cases from plain lists, and a metric's values on them."""

from itertools import groupby
from operator import itemgetter

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
    hits: dict[str, dict] = {query_set.name: {} for query_set in query_sets}
    for row, (query_set, names) in enumerate(zip(query_sets, ranked, strict=False)):
        hits[query_set.name][str(row)] = [(name, -float(rank)) for rank, name in enumerate(names)]
    case = Case(
        data=data or {},
        relevant=list(relevant),
        answers=list(answers),
        runs={name: run_of(one) for name, one in hits.items()},
        predictions=list(predictions),
        vectors=vectors or {},
        texts_of=lambda collection, names: {name: texts[name] for name in names},
    )
    for query_set, same in groupby(enumerate(query_sets), key=itemgetter(1)):
        assert query_set.name not in case.rows_of, f"the rows of a query set must stand together: {query_sets}"
        case.add(query_set, [str(row) for row, _ in same])
    return case


def score(metric: str, **given) -> list[float]:
    """The values per query of a metric called `name@cut`."""
    return load_metric(metric).values(case_of(**given)).tolist()
