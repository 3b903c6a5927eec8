"""What datasets hold. Each module lists the datasets that it counts in COUNTED, by name, or by that of their layout.

Numbers are by language, or one of all. `data` are the dataset's folders by part, as benchmarks take them; they are read
by the benchmarks' own readers.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from stele.benchmarks.types import Data
from stele.catalogue.datasets import counted_dataset
from stele.errors import unknown
from stele.progress import track
from stele.registry import names_held

Counts = dict[str, dict[str, int] | dict[str, float] | int]  # metric -> its numbers


class DatasetCounts(NamedTuple):
    """How a dataset is counted.

    `counts(data)` gives its numbers. `documents(data, language)` gives the text of every document and whether it is
    judged for a topic that counts, where their lengths are counted.
    """

    counts: Callable[[Data], Counts]
    documents: Callable[[Data, str], Iterator[tuple[str, bool]]] | None = None


def load_counts(dataset: str) -> DatasetCounts:
    """How a dataset or a test collection is counted. Raises SteleError where nothing counts it."""
    modules, name = names_held(__name__, "COUNTED"), counted_dataset(dataset).module
    if name not in modules:
        raise unknown("dataset that is counted", name, modules)
    return importlib.import_module(f"{__name__}.{modules[name]}").COUNTED[name]


def number_of(items: Iterable, what: str) -> int:
    """The number of items, with a line now and then of how far the counting has come."""
    return sum(1 for _ in track(items, None, f"count {what}"))


def by_language(languages: Iterable[str], what: str) -> dict[str, int]:
    """Language -> its number of occurrences; `what` labels the progress bar."""
    return dict(Counter(track(languages, None, f"count {what}")))


def present(numbers: Mapping[str, int]) -> int:
    """The number of languages with a count above 0."""
    return sum(1 for number in numbers.values() if number)
