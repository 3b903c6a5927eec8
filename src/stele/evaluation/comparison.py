"""Comparisons of systems with a baseline, per language and on average: interval, p-value, significance.

The average is compared only if there are several languages: with one it would repeat that language's comparison.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stele.errors import SteleError
from stele.evaluation import bootstrap, paired
from stele.evaluation.aggregate import std
from stele.evaluation.metrics import load_metric
from stele.evaluation.scores import Scores
from stele.evaluation.significance import SignificanceTest, correct, load_test, varies

if TYPE_CHECKING:
    import pandas

AVERAGE = "average"
File = str | Path


@dataclass(frozen=True)
class Comparison:
    """One system compared with the baseline on the queries of one language, or of all languages ("average").

    Means are over queries and seeds, as the metric's average says; `std` is over the means of several seeds (None for
    one). difference: system minus baseline, with its bootstrap interval from `low` to `high`, NaN if a single query or
    a lack of variance says nothing about other queries, or if the metric is no mean over queries (uniformity). p is NaN
    if the test gives no p-value. win, tie, loss: numbers of queries whose value is higher than the baseline's, the
    same, or lower.
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


@dataclass(frozen=True)
class Choices:
    """Settings of a comparison: baseline, metrics, significance test, kind of average, correction and level.

    same_questions: whether the languages ask the same questions; the average then has one sample of questions.
    """

    baseline: str
    metrics: list[str]
    test: SignificanceTest
    average: str
    correction: str
    level: float
    seed: int = 0
    same_questions: bool = False


def of_one_benchmark(systems: Mapping[str, Scores]) -> dict[str, Scores]:
    """Assigns the others' benchmark to systems whose files state none; they must have the same queries."""
    benchmark = next((system.benchmark for system in systems.values() if system.benchmark), None)
    return {name: replace(system, benchmark=system.benchmark or benchmark) for name, system in systems.items()}


def share_questions(system: Scores) -> bool:
    """Whether the languages ask the same questions, by their benchmark and by the ids of the queries."""
    keys = zip(system.keys, system.languages, strict=True)
    questions = {paired.question(query, language) for (_, query), language in keys}
    return paired.same_questions(system.benchmark) and len(questions) < len(system.keys)


def compare_system(name: str, system: Scores, baseline: Scores, metric: str, choices: Choices) -> list[Comparison]:
    """Compares one system, called `name`, with the baseline by one metric: on each language, then on average."""
    pairs = paired.pair(system, baseline, metric)
    groups = paired.split(pairs.differences(), pairs.languages, pairs.questions)
    resampled = bootstrap.resampled_means(groups, seed=choices.seed)
    comparisons = [
        _comparison(name, metric, language, pairs.only(language), choices, [groups[language]], resampled[language])
        for language in groups
    ]
    if len(groups) > 1:
        samples = pairs.samples(choices.average, choices.same_questions)
        if choices.same_questions:
            together = bootstrap.resampled_means({AVERAGE: samples[0]}, seed=choices.seed)[AVERAGE]
        else:
            together = bootstrap.average_of(resampled, groups, choices.average)
        comparisons.append(_comparison(name, metric, AVERAGE, pairs, choices, samples, together))
    return comparisons


def _comparison(
    name: str,
    metric: str,
    language: str,
    pairs: paired.Pairs,
    choices: Choices,
    samples: Sequence[np.ndarray],
    resampled: np.ndarray,
) -> Comparison:
    """Compares the queries of `pairs`; `samples` are the independent ones among their differences."""
    differences, average, finish = pairs.differences(), choices.average, _finish(metric)
    (baseline_mean, baseline_std), (mean, std) = (
        _over_seeds(pairs, values, average, finish) for values in (pairs.baseline, pairs.system)
    )
    is_known = finish is float and len(differences) > 1 and (varies(resampled) or not differences.any())
    low, high = bootstrap.interval(resampled) if is_known else (math.nan, math.nan)
    return Comparison(
        metric=metric,
        system=name,
        language=language,
        queries=len(differences),
        baseline_mean=baseline_mean,
        baseline_std=baseline_std,
        mean=mean,
        std=std,
        difference=paired.mean(samples) if finish is float else mean - baseline_mean,
        low=low,
        high=high,
        p=choices.test.p_value(samples, seed=choices.seed),
        win=int(np.count_nonzero(differences > 0)),
        tie=int(np.count_nonzero(differences == 0)),
        loss=int(np.count_nonzero(differences < 0)),
    )


def _finish(metric: str) -> bootstrap.Finish:
    """Function that turns a mean over queries into the metric's value; `float` for a metric of the user's own."""
    try:
        return load_metric(metric).finish or float
    except SteleError:
        return float


def _over_seeds(
    pairs: paired.Pairs, values: np.ndarray, average: str, finish: bootstrap.Finish
) -> tuple[float, float | None]:
    """Mean and standard deviation over seeds (None for one seed) of `values`, float64 [seeds, n]."""
    strata = [paired.strata(pairs.of(seed_values), average) for seed_values in values]
    if finish is not float:
        strata = [[np.array([finish(paired.mean([part]))]) for part in of_seed] for of_seed in strata]
    means = [paired.mean(of_seed) for of_seed in strata]
    return paired.mean([np.array(means)]), std(means)


def compare_all(systems: Mapping[str, Scores], metric: str, choices: Choices) -> list[Comparison]:
    """Compares every system with the baseline by one metric; corrects all their p-values as one family."""
    baseline = systems[choices.baseline]
    comparisons = []
    for name, system in systems.items():
        if name != choices.baseline:
            comparisons += compare_system(name, system, baseline, metric, choices)
    return list(family(comparisons, choices.correction, choices.level))


def family(comparisons: Sequence[Comparison], correction: str, level: float) -> Iterator[Comparison]:
    """Corrects the p-values of one family of comparisons; a corrected p-value below `level` is significant."""
    corrected = correct([comparison.p for comparison in comparisons], correction)
    for comparison, p in zip(comparisons, corrected, strict=True):
        yield replace(comparison, corrected_p=p, significant=p < level)


def compare(
    systems: Mapping[str, pandas.DataFrame | File | Sequence[File]],
    test: str = "fisher",
    correction: str = "holm",
    level: float = 0.05,
) -> pandas.DataFrame:
    """Compares the first system with each other one by every metric that all have; one row per comparison.

    A system is a table of values per query (as `stele.score` gives it: one row per query, one column per metric), a
    result of `stele scoring score` or `average` (.json), a file of scores per query (.parquet, .csv), or several files,
    one per seed. `test` is "fisher" or "t_test", `correction` "holm", "bonferroni" or "none". The columns are the
    fields of `stele.evaluation.comparison.Comparison`, among them difference, p and corrected_p. Raises SteleError if
    the systems do not have the same queries, have no metric in common, or are fewer than two.

    >>> import pandas
    >>> queries = pandas.Index([f"q{n}" for n in range(8)], name="query")
    >>> bm25 = pandas.DataFrame({"mrr@10": [0, 0, 0.5, 0.2, 1, 0.25, 0, 0.1]}, queries)
    >>> dense = pandas.DataFrame({"mrr@10": [0.5, 1, 0.5, 1, 1, 1, 0.5, 0.25]}, queries)
    >>> found = compare({"bm25": bm25, "dense": dense})
    >>> found[["metric", "system", "baseline_mean", "mean", "p", "significant"]]
       metric system  baseline_mean     mean        p  significant
    0  mrr@10  dense        0.25625  0.71875  0.03125         True
    >>> round(float(compare({"bm25": bm25, "dense": dense}, test="t_test").p[0]), 4)
    0.0109
    """
    import pandas

    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise SteleError("compare: want a mapping {name: system} of two systems or more, the baseline first")
    if not 0 < level < 1:
        raise SteleError(f"compare: level: want a number between 0 and 1, for example 0.05; found {level}")
    scores_of = of_one_benchmark({name: _scores(name, system) for name, system in systems.items()})
    name, baseline = next(iter(scores_of.items()))
    metrics = [metric for metric in baseline.values if all(metric in entry.values for entry in scores_of.values())]
    if not metrics:
        raise SteleError(f"compare: no metric of {baseline.source} is in all other systems; score all by one metric")
    average = next((entry.average for entry in scores_of.values() if entry.average), "macro")
    shared = share_questions(baseline)
    choices = Choices(name, metrics, load_test(test), average, correction, level, same_questions=shared)
    rows = [asdict(entry) for metric in metrics for entry in compare_all(scores_of, metric, choices)]
    return pandas.DataFrame(rows, columns=[field.name for field in fields(Comparison)])


def _scores(name: str, system: pandas.DataFrame | File | Sequence[File]) -> Scores:
    import pandas

    if not isinstance(system, pandas.DataFrame):
        files = [system] if isinstance(system, File) else system
        if not isinstance(files, Sequence) or not files or not all(isinstance(file, File) for file in files):
            raise SteleError(f"compare: system {name}: want a table of values per query or files, found {system!r}")
        return paired.read_system(files)
    for what, names in (("query", system.index.map(str)), ("column", system.columns)):
        if not names.is_unique:
            raise SteleError(f"compare: system {name}: a {what} appears twice: {names[names.duplicated()][0]!r}")
    try:
        values = {metric: np.asarray(column, dtype=np.float64)[None, :] for metric, column in system.items()}
    except (TypeError, ValueError) as error:
        raise SteleError(f"compare: system {name}: want numbers in every column: {error}") from None
    if infinite := [metric for metric, column in values.items() if np.isinf(column).any()]:
        raise SteleError(f"compare: system {name}: a value of {infinite[0]} is infinite")
    return Scores(name, [("run", str(query)) for query in system.index], ["all"] * len(system), values)
