"""Statistics of datasets. Each module lists in COUNTED the datasets that it counts, by their or their layout's name.

Numbers are by language, or one for all languages. `data` maps a dataset's parts to folders, as benchmarks take them;
the benchmarks' own readers read them.
"""

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from stele.benchmarks.types import Data
from stele.catalogue.datasets import counted_dataset
from stele.errors import check_known
from stele.progress import track
from stele.registry import names_held

Counts = dict[str, dict[str, int] | dict[str, float] | int]  # metric -> its numbers


class DatasetCounts(NamedTuple):
    """Functions that count a dataset.

    `counts(data)` gives its numbers. `documents(data, language)` yields the text of each document, and whether it is
    judged for a topic that counts; it is None if the lengths of documents are not counted.
    """

    counts: Callable[[Data], Counts]
    documents: Callable[[Data, str], Iterator[tuple[str, bool]]] | None = None


def load_counts(dataset: str) -> DatasetCounts:
    """Functions that count a dataset or a test collection. Raises SteleError if no module counts it."""
    modules, name = names_held(__name__, "COUNTED"), counted_dataset(dataset).module
    check_known("dataset that is counted", name, modules)
    return importlib.import_module(f"{__name__}.{modules[name]}").COUNTED[name]


def number_of(items: Iterable, what: str) -> int:
    """Counts items; logs its progress now and then, with `what` as the label."""
    return sum(1 for _ in track(items, None, f"count {what}"))


def by_language(languages: Iterable[str], what: str) -> dict[str, int]:
    """Number of occurrences of each language; `what` labels the progress bar."""
    return dict(Counter(track(languages, None, f"count {what}")))


def present(numbers: Mapping[str, int]) -> int:
    """Number of languages with a count above 0."""
    return sum(map(bool, numbers.values()))
