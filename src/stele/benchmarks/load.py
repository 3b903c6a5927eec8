"""Find the class that reads a benchmark or a training set, by its name."""

from typing import TypeVar

from stele import catalogue
from stele.benchmarks.reader import BenchmarkReader
from stele.benchmarks.types import Data, LeftOut, QuerySet
from stele.catalogue.datasets import module_of
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import SteleError
from stele.registry import load_named

Reader = TypeVar("Reader")


def load_reader(name: str, kind: type[Reader]) -> Reader:
    """Makes the reader of a benchmark (by its name) or training set (by its file), of a `kind` of `reader.py`.

    Raises SteleError for an unknown name, suggesting the nearest one, and for a file without a class of this kind.
    """
    module = load_named("stele.benchmarks", module_of(name), kind.KIND)
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, kind) and value.__module__ == module.__name__:
            return value()
    raise SteleError(f"{kind.KIND} {name} has no {kind.READS}")


def stated_left_out(name: str, data: Data, query_set: QuerySet) -> LeftOut:
    """Documents that are not hits of their queries; for a query's own id the benchmark's entry overrides its data."""
    left_out = load_reader(name, BenchmarkReader).left_out(data, query_set)
    stated = catalogue.entry(Benchmark, name).ignore_identical_ids
    return left_out if stated is None else left_out._replace(same_id=stated)
