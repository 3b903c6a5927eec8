"""Paired scores of two systems: queries aligned, means over seeds, groups by language and averages.

If a system has several seeds, its mean over the seeds is compared for each query, so that the number of observations is
the number of queries and not queries times seeds. The seeds answer the same queries, whose difficulty they share; to
count each of them as a separate observation would make p smaller by the mere number of seeds. The test therefore
generalises these trained models to other queries like these; how much a system varies between trainings is the
standard deviation over seeds, which is reported beside it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from stele.catalogue import entries
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import SteleError
from stele.evaluation.scores import Scores, read
from stele.files.formats import amount

AVERAGES = ("macro", "micro")
ROUNDING = 1e-6  # relative; means over seeds of the same values differ by less, and values kept as float32


@dataclass(frozen=True)
class Pairs:
    """The values of a metric for the queries that count: entry i of each belongs to query i.

    system: float64 [seeds, n]; baseline: float64 [its seeds, n]; languages: [n] names; questions: [n] ids, one for a
    question in all its languages, and in both directions of a pair of languages.
    """

    system: np.ndarray
    baseline: np.ndarray
    languages: np.ndarray
    questions: np.ndarray | None = None

    def differences(self) -> np.ndarray:
        """Differences system minus baseline of the means over seeds, float64 [n]; 0 where only rounding differs."""
        return differences(over_seeds(self.system), over_seeds(self.baseline))

    def of(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Splits `values` [n] by language: language -> its values [n_l], in order of the languages' names."""
        return {str(name): values[self.languages == name] for name in np.unique(self.languages)}

    def only(self, language: str) -> Self:
        """Pairs of the queries of one language."""
        rows = self.languages == language
        return Pairs(self.system[:, rows], self.baseline[:, rows], self.languages[rows], self.questions[rows])

    def samples(self, average: str, same_questions: bool = False) -> list[np.ndarray]:
        """Independent samples of differences: the `strata`, or one if several languages ask the `same_questions`."""
        values = self.differences()
        if same_questions and len(np.unique(self.languages)) > 1:
            return [by_question(*(strata(self.of(array), average) for array in (values, self.questions)))]
        return strata(split(values, self.languages, self.questions), average)


def differences(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Differences `ours` minus `theirs`, float arrays of one shape; 0 where they differ by rounding only."""
    difference = ours - theirs
    difference[np.abs(difference) <= ROUNDING * np.maximum(np.abs(ours), np.abs(theirs))] = 0
    return difference


def over_seeds(values: np.ndarray) -> np.ndarray:
    """Mean over seeds of each query, float64 [n], from `values` [seeds, n]; the order of the seeds does not matter."""
    return np.array([math.fsum(of_query) / len(of_query) for of_query in values.T.tolist()])


def strata(groups: Mapping[str, np.ndarray], average: str) -> list[np.ndarray]:
    """Groups of values [n_l] whose means are averaged: one per language for "macro", one of all queries for "micro"."""
    return list(groups.values()) if average == "macro" else [np.concatenate(list(groups.values()))]


def per_question(values: np.ndarray, questions: np.ndarray) -> np.ndarray:
    """Values of the distinct `questions` [n], sorted, float64: their sums, scaled so that the mean is that of `values`.

    >>> per_question(np.array([1.0, 0.0, 0.5, 0.5]), np.array(["b", "a", "b", "a"]))
    array([0.25, 0.75])
    """
    names, places = np.unique(questions, return_inverse=True)
    return np.bincount(places, values) * (len(names) / len(values))


def split(values: np.ndarray, languages: np.ndarray, questions: np.ndarray) -> dict[str, np.ndarray]:
    """Splits `values` [n], NaN where a query does not count, by language: one value per question, in order of names."""
    counted = ~np.isnan(values)
    rows = {str(name): counted & (languages == name) for name in np.unique(languages[counted])}
    return {name: per_question(values[of_language], questions[of_language]) for name, of_language in rows.items()}


def by_question(groups: Sequence[np.ndarray], questions: Sequence[np.ndarray]) -> np.ndarray:
    """Joins the values [n_l] of languages that ask the same `questions` [n_l], float64 [questions]: one sample.

    A question's value is its mean over languages. Where a language lacks questions, its others weigh more, so that the
    mean is always that of the languages' means.

    >>> by_question([np.array([1.0, 0.0]), np.array([0.5])], [np.array(["a", "b"]), np.array(["a"])])
    array([1., 0.])
    """
    names, places = np.unique(np.concatenate(questions), return_inverse=True)
    shares = np.concatenate([values / (len(values) * len(groups)) for values in groups])
    return len(names) * np.bincount(places, shares)


def same_questions(benchmark: str | None) -> bool:
    """Whether the languages of a benchmark ask the same questions; not if the catalogue does not have it."""
    entry = entries(Benchmark).get(benchmark or "")
    return entry is not None and entry.same_questions


def question(query: str, language: str) -> str:
    """Id that a question has in all languages: LAReQA's query ids without their language, other query ids unchanged."""
    return query.removesuffix(f"_{language}")


def mean(parts: Sequence[np.ndarray]) -> float:
    """Mean of the means of several arrays [n_l]; the sums are correctly rounded."""
    return math.fsum(math.fsum(part.tolist()) / len(part) for part in parts) / len(parts)


def stack(seeds: Sequence[Scores]) -> Scores:
    """Joins the seeds of a system: values [seeds, n] of the metrics that all have, in the first seed's query order.

    Raises SteleError for a file given twice, and if the seeds do not have the same queries.
    """
    first = seeds[0]
    for i, seed in enumerate(seeds):
        if Path(seed.source).resolve() in (Path(other.source).resolve() for other in seeds[:i]):
            raise SteleError(f"{seed.source}: this file is given twice as a seed of one system; give each seed once")
    orders = [_order(first, seed) for seed in seeds]
    shared = [name for name in first.values if all(name in seed.values for seed in seeds)]
    values = {
        name: np.concatenate([seed.values[name][:, order] for seed, order in zip(seeds, orders, strict=True)])
        for name in shared
    }
    for name, column in values.items():
        counted = ~np.isnan(column)
        _refuse_half_counted(first, name, counted.all(axis=0), counted.any(axis=0), "all its seeds")
    return replace(
        first,
        values=values,
        benchmark=next((seed.benchmark for seed in seeds if seed.benchmark), None),
        average=next((seed.average for seed in seeds if seed.average), None),
        labels=frozenset().union(*(seed.labels for seed in seeds)),
    )


def read_system(files: Iterable[Path | str]) -> Scores:
    """Reads one system's scores from its files: results or files of values per query, each of one seed or several."""
    return stack([seed for file in files for seed in read(file)])


def pair(system: Scores, baseline: Scores, metric: str) -> Pairs:
    """Pairs the values of two systems for every query that counts, in order of (search, query).

    Raises SteleError if one has queries that the other lacks, a query counts for one of them only, or none counts.
    """
    order = sorted(range(len(system.keys)), key=system.keys.__getitem__)
    ours = system.values[metric][:, order]
    theirs = baseline.values[metric][:, np.array(_order(system, baseline), dtype=int)[order]]
    languages = np.array(system.languages)[order]
    counts, theirs_counts = ~np.isnan(ours).any(axis=0), ~np.isnan(theirs).any(axis=0)
    in_order = replace(system, keys=[system.keys[i] for i in order])
    _refuse_half_counted(in_order, metric, counts & theirs_counts, counts | theirs_counts, baseline.source)
    if not counts.any():
        raise SteleError(f"{system.source}: no query counts for {metric}; there is nothing to compare")
    # where the benchmark is unknown, equal ids of two searches may be of different questions
    known = system.benchmark or baseline.benchmark
    questions = [question(system.keys[i][1], system.languages[i]) if known else str(system.keys[i]) for i in order]
    return Pairs(ours[:, counts], theirs[:, counts], languages[counts], np.array(questions)[counts])


def _order(first: Scores, other: Scores) -> list[int]:
    """Positions in `other` of the queries of `first`. Raises SteleError if their queries or languages differ."""
    if None not in (first.benchmark, other.benchmark) and first.benchmark != other.benchmark:
        raise SteleError(f"{other.source}: scores of {other.benchmark}; {first.source} has scores of {first.benchmark}")
    if (first.keys, first.languages) == (other.keys, other.languages):
        return list(range(len(first.keys)))
    places = {key: place for place, key in enumerate(other.keys)}
    first_keys = set(first.keys)
    _refuse_missing([key for key in first.keys if key not in places], other.source, first.source)
    _refuse_missing([key for key in other.keys if key not in first_keys], first.source, other.source)
    order = [places[key] for key in first.keys]
    for key, language, place in zip(first.keys, first.languages, order, strict=True):
        if other.languages[place] != language:
            difference = f"is {other.languages[place]!r}, but {language!r} in {first.source}"
            raise SteleError(f"{other.source}: the language of query {key[1]!r} of search {key[0]!r} {difference}")
    return order


def _refuse_missing(missing: Sequence[tuple[str, str]], lacking: str, having: str) -> None:
    if missing:
        search, query = min(missing)
        raise SteleError(
            f"{lacking}: lacks {amount(len(missing), 'query', 'queries')} that {having} has, for example {query!r} of "
            f"search {search!r}; score both against the same judgments (queries without a result are scored, too)"
        )


def _refuse_half_counted(scores: Scores, metric: str, by_all: np.ndarray, by_any: np.ndarray, others: str) -> None:
    if half := np.flatnonzero(by_any & ~by_all).tolist():
        search, query = scores.keys[half[0]]
        raise SteleError(
            f"{scores.source}: {amount(len(half), 'query', 'queries')} counted for {metric} here or in {others}, but "
            f"not in both, for example {query!r} of search {search!r}; score both against the same judgments"
        )
