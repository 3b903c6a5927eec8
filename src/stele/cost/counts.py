"""How many examples, queries and passages there are: numbers of costs.yaml, or counts that datasets.yaml pins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from stele import catalogue
from stele.catalogue import datasets, whole
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.costs import AnsweredSize, BenchmarkSize, Costs, JudgedSize, TrainingSetSize

CHARACTERS = 4.5  # of a token
Size = TypeVar("Size", AnsweredSize, BenchmarkSize, JudgedSize, TrainingSetSize)


class NoFigures(LookupError):
    """costs.yaml has no figures for a benchmark or a training set: the cost of its jobs is unknown."""


def costs() -> Costs:
    """The catalogue's figures and rates."""
    return whole(Costs)


def benchmark_size(name: str) -> BenchmarkSize:
    """What is encoded and searched; NoFigures where costs.yaml has none."""
    return _figures("benchmarks", costs().benchmarks, name)


def judged_size(name: str) -> JudgedSize:
    """What is re-ranked; NoFigures where costs.yaml has none."""
    return _figures("judged", costs().judged, name)


def judged_collection(name: str) -> float:
    """Characters of the documents of a collection that is judged."""
    size = judged_size(name)
    return size.documents * costs().texts[size.pair].mean * CHARACTERS


def answered_size(name: str) -> AnsweredSize:
    """What is asked; NoFigures where costs.yaml has none."""
    return _figures("answered", costs().answered, name)


def training_set_size(name: str) -> TrainingSetSize:
    """The examples, and what they are chosen and mined by; NoFigures where costs.yaml has none."""
    return _figures("training_sets", costs().training_sets, name)


def windows(benchmark: str, languages: Sequence[str]) -> int:
    """Texts of a benchmark's collections that are encoded: the windows of its documents, or its passages."""
    entry = benchmark_size(benchmark)
    return round(entry.windows * of_languages(entry.passages, benchmark, languages))


def of_languages(items: Iterable[int | str], benchmark: str, languages: Sequence[str]) -> int:
    """`total` of a benchmark's items in some of its languages: of a plain number, their share of its languages."""
    chosen, every = (_codes(pairs) for pairs in (languages, catalogue.entry(Benchmark, benchmark).languages))
    share = min(1.0, len(chosen) / len(every)) if every else 1.0
    return sum(round(share * item) if isinstance(item, int) else total([item], languages) for item in items)


def _codes(pairs: Iterable[str]) -> set[str]:
    return {code for pair in pairs for code in pair.split("-")}


def _figures(kind: str, known: Mapping[str, Size], name: str) -> Size:
    if name not in known:
        raise NoFigures(f"{kind}: {name}")
    return known[name]


def total(items: Iterable[int | str], languages: Sequence[str] | None) -> int:
    """The sum of numbers and of `dataset.count`, of some languages (None: all) where a dataset is divided by them.

    >>> total([3, "squad.dev"], None)
    10573
    """
    codes = None if languages is None else tuple(languages)
    return sum(item if isinstance(item, int) else pinned(*item.split("."), codes) for item in items)


@cache
def pinned(dataset: str, count: str, languages: tuple[str, ...] | None) -> int:
    """What a count of a dataset must come out as, over its parts."""
    entry = datasets.dataset(dataset)
    sources = [datasets.resolve(dataset, part, languages) for part in datasets.parts(entry, languages)]
    return sum(_number(counted.expect) for source in sources for counted in source.counts[count])


def _number(expected: Any) -> int:
    return sum(expected.values()) if isinstance(expected, dict) else expected
