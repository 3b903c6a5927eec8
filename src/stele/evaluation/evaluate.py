"""Metrics by name: what `mrr@100` or `r@2kt` computes, and its values by language and on average."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from stele.catalogue.schema.benchmarks import metric_parts
from stele.errors import unknown
from stele.evaluation.aggregate import by_language
from stele.evaluation.case import Case
from stele.evaluation.guess import by_language as guess_by_language
from stele.registry import load_named, module_names
from stele.significance.bootstrap import average_of, interval, resampled_means

METRICS = "stele.evaluation.metrics"
Finish = Callable[[float], float]


class Evaluator(NamedTuple):
    """A metric at its cut."""

    module: ModuleType
    cut: str

    def values(self, case: Case) -> np.ndarray:
        """One value per judged query [rows]; NaN where the query does not count."""
        return self.module.evaluate(case, self.cut)

    def finish(self) -> Finish | None:
        """What turns a mean over queries into the metric's value, where that is not the mean itself."""
        return getattr(self.module, "finish", None)

    def guess(self, case: Case) -> np.ndarray | None:
        """What a random order scores by query, NaN where that is unknown; None where the metric has no guess."""
        return self.module.guess(case, self.cut) if hasattr(self.module, "guess") else None

    def notes(self, case: Case) -> dict[str, int]:
        """Counts that a reader of the metric's value should know."""
        return self.module.notes(case) if hasattr(self.module, "notes") else {}


def evaluator(name: str) -> Evaluator:
    """The metric called `name` or `name@cut`."""
    module, cut = metric_parts(name)
    if module not in (valid := module_names(METRICS)):
        raise unknown("metric", module.removesuffix("_kt"), valid)
    return Evaluator(load_named(METRICS, module, kind="metric"), cut)


class Evaluation(NamedTuple):
    """All metrics of one case."""

    values: dict[str, np.ndarray]  # by metric, one value per judged query
    metrics: dict[str, dict[str, Any]]  # by metric, as `aggregate.by_language` gives them
    notes: dict[str, int]


def evaluate(case: Case, evaluators: Mapping[str, Evaluator], average: str) -> Evaluation:
    """Every metric's values per query, per language and on `average` ("macro" or "micro")."""
    languages = [query_set.language for query_set in case.query_sets]
    values = {name: metric.values(case) for name, metric in evaluators.items()}
    finish = {name: metric.finish() or float for name, metric in evaluators.items()}
    metrics = {name: by_language(column, languages, average, finish[name]) for name, column in values.items()}
    notes: dict[str, int] = {}
    for name, metric in evaluators.items():
        notes |= metric.notes(case)
        guesses = metric.guess(case)
        if guesses is not None and (known := guess_by_language(values[name], guesses, languages))["languages"]:
            metrics[name]["guess"] = known
    return Evaluation(values, metrics, notes)


def intervals(
    case: Case,
    evaluators: Mapping[str, Evaluator],
    values: Mapping[str, np.ndarray],
    average: str,
    same_questions: bool = False,
) -> dict[str, dict[str, Any]]:
    """By metric, bootstrap intervals {"languages": {language: [low, high]}, "average": [low, high]} of its values.

    Languages are resampled apart. Where they ask the `same_questions`, the interval of an average of several would be
    too narrow by up to the root of their number, and there is none (null).
    """
    languages = [query_set.language for query_set in case.query_sets]
    average = None if same_questions and len({*languages}) > 1 else average
    return {
        name: _intervals(values_of_metric, languages, average, evaluators[name].finish() or float)
        for name, values_of_metric in values.items()
    }


def _intervals(values: np.ndarray, languages: Sequence[str], average: str | None, finish: Finish) -> dict[str, Any]:
    """Bootstrap intervals of a metric by language and on average; a language without a query that counts has none."""
    counted, names = ~np.isnan(values), np.array(languages)
    groups = {str(name): values[counted & (names == name)] for name in np.unique(names[counted])}
    raw = resampled_means(groups)
    means = {language: _each(finish, values_of_language) for language, values_of_language in raw.items()}
    together = None
    if raw and average == "micro":
        together = _each(finish, average_of(raw, groups, average))
    elif raw and average:
        together = average_of(means, groups, average)
    return {
        "languages": {language: interval(values_of_language) for language, values_of_language in means.items()},
        "average": None if together is None else interval(together),
    }


def _each(finish: Finish, means: np.ndarray) -> np.ndarray:
    return means if finish is float else np.array([finish(mean) for mean in means.tolist()])
