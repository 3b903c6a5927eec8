"""Evaluates one system on one benchmark: metrics per query, by language and on average; `score` for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stele.artifacts.run import Run, run_of
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.evaluation.aggregate import by_language
from stele.evaluation.guess import by_language as guess_by_language
from stele.evaluation.metric import Case, Metric
from stele.evaluation.metrics import load_metric

if TYPE_CHECKING:
    import pandas


METRICS = ("mrr@100", "ndcg@10", "recall@100")  # of `score`, where none is named


class Evaluation(NamedTuple):
    """All metrics of one system on one benchmark."""

    values: dict[str, np.ndarray]  # by metric, one value per judged query
    metrics: dict[str, dict[str, Any]]  # by metric, as `aggregate.by_language` gives them
    notes: dict[str, int]


def evaluate(case: Case, metrics: Mapping[str, Metric], average: str) -> Evaluation:
    """Computes the metrics of one system: per query, per language and on `average` ("macro" or "micro")."""
    languages = [query_set.language for query_set in case.query_sets]
    evaluation = Evaluation({}, {}, {})
    for name, metric in metrics.items():
        values = metric.values(case)
        evaluation.values[name] = values
        evaluation.metrics[name] = by_language(values, languages, average, metric.finish or float)
        evaluation.notes.update(metric.notes(case))
        guesses = metric.guess(case)
        if guesses is not None:
            guess = guess_by_language(values, guesses, languages, case.queries)
            if guess["languages"]:
                evaluation.metrics[name]["guess"] = guess
    return evaluation


class Score(NamedTuple):
    """Metrics of a run. means: metric -> mean over the judged queries; values: a row per query, a column per metric."""

    means: dict[str, float]
    values: pandas.DataFrame


def score(
    run: Run | Mapping[str, Mapping[str, float]],
    judgments: Mapping[str, Mapping[str, int]],
    metrics: Iterable[str] = METRICS,
) -> Score:
    """Scores a run (query -> {passage: score}, or a result of `stele.search`) by the code of `stele scoring score`.

    `judgments` maps a query to {passage: relevance}, where 0 is not relevant. Every judged query counts; one without a
    result scores 0. `metrics` are names of metrics for judged passages (docs/scoring.md). Raises SteleError for an
    unknown metric, an id that is no string, a score that is no number, a relevance that is no whole number, and
    judgments that share no query with the run.

    >>> run = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"a": 0.5, "c": 0.4}}
    >>> scores = score(run, {"q1": {"a": 1}, "q2": {"c": 1}, "q3": {"b": 1}}, ["mrr@10", "recall@10"])
    >>> scores.means
    {'mrr@10': 0.5, 'recall@10': 0.6666666666666666}
    >>> scores.values
           mrr@10  recall@10
    query
    q1        1.0        1.0
    q2        0.5        1.0
    q3        0.0        0.0
    """
    import pandas

    names = [*metrics] if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise SteleError(f"score: metrics are names, as mrr@10; found {wrong[0]!r}")
    if not isinstance(run, Run):
        run = run_of({query: hits.items() for query, hits in _by_query(run).items()}, "score")
    for query, judged in _by_query(judgments).items():
        if wrong := [grade for grade in judged.values() if not isinstance(grade, Real | np.bool) or grade % 1]:
            raise SteleError(f"score: query {query!r}: a relevance is a whole number, 0, 1, 2...; found {wrong[0]!r}")
    if not any(query in run for query in judgments):
        raise SteleError("score: none of the run's queries is judged; pass judgments of the queries it searched")
    case = Case(relevant=list(judgments.values()), runs={"run": run})
    case.add(QuerySet("run", "all", "all"), list(judgments))
    evaluation = evaluate(case, {name: load_metric(name) for name in names}, "micro")
    index = pandas.Index(case.queries, name="query")
    means = {name: figures["average"] for name, figures in evaluation.metrics.items()}
    return Score(means, pandas.DataFrame(evaluation.values, index))


def _by_query(run: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, float]]:
    """Checks a run or judgments. Raises SteleError unless they map query -> {passage: number} and ids are strings."""
    if not isinstance(run, Mapping):
        raise SteleError(f"score: want {{query: {{passage: score}}}}, found {type(run).__name__}")
    for query, hits in run.items():
        if not isinstance(hits, Mapping):
            raise SteleError(f"score: query {query!r}: want {{passage: score}}, found {type(hits).__name__}")
        if wrong := [name for name in (query, *hits) if not isinstance(name, str)]:
            raise SteleError(f"score: query {query!r}: want ids as strings, for example '1'; found {wrong[0]!r}")
    return run
