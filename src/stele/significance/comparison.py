"""One system against a baseline: per language and on average, with interval, p-value and mark.

The average stands beside the languages only where there are several: with one it would be the same comparison twice.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np

from stele.errors import unknown
from stele.registry import load_named, module_names
from stele.significance import bootstrap, paired
from stele.significance.corrections import correct
from stele.significance.scores import Scores

AVERAGE = "average"
PACKAGE = "stele.significance"
Test = Callable[[Sequence[np.ndarray]], float]


@dataclass(frozen=True)
class Comparison:
    """A system and the baseline on the queries of one language, or of all ("average").

    Means are over queries and seeds, as the metric's average says; `std` is over the means of several seeds (None for
    one). difference: system minus baseline, with its bootstrap interval from `low` to `high`. p is NaN where the test
    cannot say. win, tie, loss: queries whose value is higher, the same or lower than the baseline's.
    """

    metric: str
    system: str
    language: str
    queries: int
    baseline_mean: float
    baseline_std: float | None
    mean: float
    std: float | None
    difference: float
    low: float
    high: float
    p: float
    win: int
    tie: int
    loss: int
    corrected_p: float = float("nan")
    significant: bool = False


def load_test(name: str) -> ModuleType:
    """The test of that name: a module of this package that has `p_value`; SteleError with all of them for another."""
    tests = [n for n in module_names(PACKAGE) if hasattr(importlib.import_module(f"{PACKAGE}.{n}"), "p_value")]
    if name not in tests:
        raise unknown("test", name, tests)
    return load_named(PACKAGE, name, kind="test")


def compare(
    name: str,
    system: Scores,
    baseline: Scores,
    metric: str,
    *,
    test: Test,
    average: str,
    seed: int = 0,
    resamples: int = bootstrap.RESAMPLES,
) -> list[Comparison]:
    """The comparisons of one system, called `name`, by one metric: each language in order, then the average.

    `test` gives p for the differences of some strata, `average` is "macro" or "micro", `seed` is the bootstrap's.
    """
    pairs = paired.pair(system, baseline, metric)
    groups = pairs.of(pairs.differences())
    resampled = bootstrap.resampled_means(groups, resamples, seed)
    comparisons = [
        _comparison(name, metric, language, pairs.only(language), test, average, resampled[language])
        for language in groups
    ]
    if len(groups) > 1:
        together = bootstrap.average_of(resampled, groups, average)
        comparisons.append(_comparison(name, metric, AVERAGE, pairs, test, average, together))
    return comparisons


def _comparison(name, metric, language, pairs: paired.Pairs, test: Test, average, resampled: np.ndarray) -> Comparison:
    differences = pairs.differences()
    strata = paired.strata(pairs.of(differences), average)
    (baseline_mean, baseline_std), (mean, std) = (
        _over_seeds(pairs, values, average) for values in (pairs.baseline, pairs.system)
    )
    low, high = bootstrap.interval(resampled)
    return Comparison(
        metric=metric,
        system=name,
        language=language,
        queries=len(differences),
        baseline_mean=baseline_mean,
        baseline_std=baseline_std,
        mean=mean,
        std=std,
        difference=paired.mean(strata),
        low=low,
        high=high,
        p=test(strata),
        win=int(np.count_nonzero(differences > 0)),
        tie=int(np.count_nonzero(differences == 0)),
        loss=int(np.count_nonzero(differences < 0)),
    )


def _over_seeds(pairs: paired.Pairs, values: np.ndarray, average: str) -> tuple[float, float | None]:
    """(mean, standard deviation over seeds) of values [seeds, n]."""
    means = [paired.mean(paired.strata(pairs.of(seed_values), average)) for seed_values in values]
    return paired.mean([np.array(means)]), paired.deviation(means)


def compare_all(
    systems: Mapping[str, Scores],
    baseline: str,
    metric: str,
    *,
    test: Test,
    average: str,
    correction: str,
    level: float,
    seed: int = 0,
) -> list[Comparison]:
    """Every system but `baseline` by one metric; their p-values are one family."""
    comparisons = []
    for name, system in systems.items():
        if name != baseline:
            comparisons += compare(name, system, systems[baseline], metric, test=test, average=average, seed=seed)
    return list(family(comparisons, correction, level))


def family(comparisons: Sequence[Comparison], correction: str, level: float) -> Iterator[Comparison]:
    """The comparisons of one family with corrected p-values; those below `level` are significant."""
    corrected = correct([comparison.p for comparison in comparisons], correction)
    for comparison, p in zip(comparisons, corrected, strict=True):
        yield replace(comparison, corrected_p=p, significant=p < level)
