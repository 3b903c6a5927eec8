"""The metrics of a case: values per query, by language and on average, means over seeds; `score` for notebooks."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stele.artifacts.run import Run, run_of
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.evaluation.guess import by_language as guess_by_language
from stele.evaluation.metric import Case, Metric
from stele.evaluation.metrics import load_metric

if TYPE_CHECKING:
    import pandas


METRICS = ("mrr@100", "ndcg@10", "recall@100")  # of `score`, where none is named


class Evaluation(NamedTuple):
    """All metrics of one case."""

    values: dict[str, np.ndarray]  # by metric, one value per judged query
    metrics: dict[str, dict[str, Any]]  # by metric, as `by_language` gives them
    notes: dict[str, int]


def evaluate(case: Case, metrics: Mapping[str, Metric], average: str) -> Evaluation:
    """Every metric's values per query, per language and on `average` ("macro" or "micro")."""
    languages = [query_set.language for query_set in case.query_sets]
    evaluation = Evaluation({}, {}, {})
    for name, metric in metrics.items():
        values = metric.values(case)
        evaluation.values[name] = values
        evaluation.metrics[name] = by_language(values, languages, average, metric.finish or float)
        evaluation.notes.update(metric.notes(case))
        guesses = metric.guess(case)
        if guesses is not None:
            guess = guess_by_language(values, guesses, languages)
            if guess["languages"]:
                evaluation.metrics[name]["guess"] = guess
    return evaluation


class Score(NamedTuple):
    """means: metric -> mean over the judged queries; values: one row a query, one column a metric (fractions)."""

    means: dict[str, float]
    values: pandas.DataFrame


def score(
    run: Run | Mapping[str, Mapping[str, float]],
    judgments: Mapping[str, Mapping[str, int]],
    metrics: Iterable[str] = METRICS,
) -> Score:
    """Metrics of a run (query -> {passage: score}, or what `stele.search` gives), by the code of `scoring score`.

    `judgments` maps a query to {passage: relevance}, 0 being not relevant; every judged query counts, without a result
    as 0. `metrics` are names of docs/scoring.md for judged passages. Raises SteleError for an unknown metric, and for
    judgments of other queries than the run's.

    >>> run = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"a": 0.5, "c": 0.4}}
    >>> found = score(run, {"q1": {"a": 1}, "q2": {"c": 1}, "q3": {"b": 1}}, ["mrr@10", "recall@10"])
    >>> found.means
    {'mrr@10': 0.5, 'recall@10': 0.6666666666666666}
    >>> found.values
           mrr@10  recall@10
    query
    q1        1.0        1.0
    q2        0.5        1.0
    q3        0.0        0.0
    """
    import pandas

    if isinstance(metrics, str):
        metrics = [metrics]
    if not isinstance(run, Run):
        run = run_of({query: _hits(query, hits).items() for query, hits in run.items()})
    if not any(query in run for query in judgments):
        raise SteleError("score: none of the run's queries is judged; the judgments are of other data")
    case = Case(relevant=list(judgments.values()), runs={"run": run})
    case.add(QuerySet("run", "all", "all"), list(judgments))
    evaluation = evaluate(case, {name: load_metric(name) for name in metrics}, "micro")
    index = pandas.Index(case.queries, name="query")
    means = {name: figures["average"] for name, figures in evaluation.metrics.items()}
    return Score(means, pandas.DataFrame(evaluation.values, index))


def _hits(query: str, hits: Mapping[str, float]) -> Mapping[str, float]:
    """The hits of a query. Raises SteleError where they are not passage -> score."""
    if not isinstance(hits, Mapping):
        raise SteleError(f"score: query {query!r}: want {{passage: score}}, found {type(hits).__name__}")
    return hits


# --- means ------------------------------------------------------------------------------------------------------------
def by_language(
    values: np.ndarray, languages: Sequence[str], average: str, finish: Callable[[float], float] = float
) -> dict[str, Any]:
    """{"languages": {language: mean}, "average", "n": {language: queries}} of one metric.

    `values` are float64 [rows]; NaN is a query that does not count. A language without any that does is left out.
    `average` "macro" is the mean over languages, "micro" the mean over queries. `finish` turns a mean into the metric's
    value.
    """
    counted: dict[str, list[float]] = {}
    for value, language in zip(values.tolist(), languages, strict=True):
        if not math.isnan(value):
            counted.setdefault(language, []).append(value)
    means = {language: finish(_mean(of_language)) for language, of_language in counted.items()}
    overall = None
    if counted and average == "macro":
        overall = _mean(list(means.values()))
    elif counted:
        every = [value for of_language in counted.values() for value in of_language]
        overall = finish(_mean(every))
    return {
        "languages": means,
        "average": overall,
        "n": {language: len(of_language) for language, of_language in counted.items()},
    }


def over_seeds(metrics: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One metric of several seeds: means, sample standard deviations (None for one seed), and the values themselves.

    The error of a guess is the mean over seeds, whose queries are the same.
    """
    languages = [language for language in metrics[0]["languages"] if all(language in m["languages"] for m in metrics)]
    values = {language: [m["languages"][language] for m in metrics] for language in languages}
    averages = [m["average"] for m in metrics]
    guesses = [m.get("guess", {"languages": {}, "errors": {}}) for m in metrics]
    known = [language for language in languages if all(language in of_seed["languages"] for of_seed in guesses)]
    guess = {part: {code: _mean([g[part][code] for g in guesses]) for code in known} for part in guesses[0]}
    return {
        **({"guess": guess} if known else {}),
        "languages": {language: _mean(values_of_language) for language, values_of_language in values.items()},
        "average": _mean(averages),
        "n": {language: metrics[0]["n"][language] for language in languages},
        "std": {
            "languages": {language: _std(values_of_language) for language, values_of_language in values.items()},
            "average": _std(averages),
        },
        "values": {"languages": values, "average": averages},
    }


def _mean(values: Sequence[float | None]) -> float | None:
    return None if None in values else math.fsum(values) / len(values)


def _std(values: Sequence[float | None]) -> float | None:
    return None if None in values or len(values) < 2 else statistics.stdev(values)
