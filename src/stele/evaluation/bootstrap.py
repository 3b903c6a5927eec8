"""Percentile bootstrap intervals of a mean: of one system's scores, or of the paired differences of two systems.

Efron and Tibshirani, An introduction to the bootstrap (1993), section 13.3. Queries are drawn again with replacement
within each language, because a benchmark fixes how many queries each language has; both systems of a difference keep
their pairs. A language's draws depend on the seed, its name and its number of queries, and neither on the other
languages nor on the order of its queries.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from stele.evaluation.metric import Case, Metric
from stele.evaluation.paired import split

RESAMPLES = 10_000
LEVEL = 0.95
BLOCK = 2**17  # values drawn at a time

Finish = Callable[[float], float]


def resampled_means(groups: Mapping[str, np.ndarray], resamples: int = RESAMPLES, seed: int = 0) -> dict:
    """Means of resampled values (scores or differences, float [n_l]) by language: language -> float64 [resamples]."""
    return {language: _means(np.sort(values), language, resamples, seed) for language, values in groups.items()}


def _means(values: np.ndarray, language: str, resamples: int, seed: int) -> np.ndarray:
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *language.encode("utf-8")])))
    distinct, times = np.unique(values, return_counts=True)
    few = 4 * len(distinct) <= len(values)  # how often each value is drawn is all that matters
    rows, means = max(1, BLOCK // (len(distinct) if few else len(values))), np.empty(resamples)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        if few:
            drawn = generator.multinomial(len(values), times / len(values), size=count)
            means[start : start + count] = (drawn * distinct).sum(axis=1) / len(values)
        else:
            drawn = generator.integers(0, len(values), size=(count, len(values)))
            means[start : start + count] = values[drawn].mean(axis=1)
    return means


def average_of(means: Mapping[str, np.ndarray], groups: Mapping[str, np.ndarray], average: str) -> np.ndarray:
    """Averages resampled means over languages ("macro") or over queries ("micro"); float64 [resamples]."""
    sizes = np.array([1 if average == "macro" else len(groups[language]) for language in means], dtype=np.float64)
    return sum(size * resampled for size, resampled in zip(sizes / sizes.sum(), means.values(), strict=True))


def interval(means: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """Percentile interval: the limits of the middle `level` (a share) of the resampled means, float [resamples].

    >>> interval(np.arange(101.0), level=0.5)
    (25.0, 75.0)
    """
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def intervals(
    case: Case,
    metrics: Mapping[str, Metric],
    values: Mapping[str, np.ndarray],
    average: str,
    same_questions: bool = False,
) -> dict[str, dict[str, Any]]:
    """Bootstrap intervals by metric: {"languages": {language: (low, high)}, "average": (low, high)} of its `values`.

    Each language is resampled on its own. If several languages ask the `same_questions`, the interval of their average
    would be too narrow, by up to the square root of their number; it is None.
    """
    languages, queries = np.array([query_set.language for query_set in case.query_sets]), np.array(case.queries)
    average = None if same_questions and len({*languages.tolist()}) > 1 else average
    return {
        name: _intervals(split(values_of_metric, languages, queries), average, metrics[name].finish or float)
        for name, values_of_metric in values.items()
    }


def _intervals(groups: Mapping[str, np.ndarray], average: str | None, finish: Finish) -> dict[str, Any]:
    """Bootstrap intervals of one metric by language and on average, from its values [n_l] by language."""
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
