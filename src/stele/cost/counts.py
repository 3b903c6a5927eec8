"""How many examples, queries and passages there are: numbers of costs.yaml, or counts that datasets.yaml pins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from stele import catalogue
from stele.catalogue import datasets


class NoFigures(LookupError):
    """costs.yaml has no figures for a benchmark or a training set: the cost of its jobs is unknown."""


def costs() -> dict[str, Any]:
    """The catalogue's figures and rates."""
    return catalogue.load("costs")


def figures(kind: str, name: str) -> dict[str, Any]:
    """The numbers and texts of one of the `benchmarks` or `training_sets`; NoFigures where costs.yaml has none."""
    if name not in (known := costs()[kind]):
        raise NoFigures(f"{kind}: {name}")
    return known[name]


def total(items: Iterable[int | str], languages: Sequence[str] | None) -> int:
    """The sum of numbers and of `dataset.count`, of some languages (None: all) where a dataset is divided by them.

    >>> total([3, "squad.dev"], None)
    10573
    """
    return sum(item if isinstance(item, int) else pinned(*item.split("."), languages) for item in items)


def pinned(dataset: str, count: str, languages: Sequence[str] | None) -> int:
    """What a count of a dataset must come out as, over its parts."""
    entry = datasets.dataset(dataset)
    sources = [datasets.resolve(dataset, part, languages) for part in datasets.parts(entry, languages)]
    return sum(_number(counted["expect"]) for source in sources for counted in source["counts"][count])


def _number(expected: Any) -> int:
    return sum(expected.values()) if isinstance(expected, dict) else expected
