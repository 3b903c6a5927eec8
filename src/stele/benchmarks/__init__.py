"""Benchmarks and training sets: one file for each native format, with a class of the kinds in `reader.py`."""

from __future__ import annotations

from typing import TypeVar

from stele.errors import SteleError
from stele.registry import load_named

Reader = TypeVar("Reader")


def module_of(name: str) -> str:
    """The file that reads a benchmark: what its entry of benchmarks.yaml says, else the one of its name.

    >>> module_of("trec3_es"), module_of("mrtydi"), module_of("jsonl")
    ('collection', 'mrtydi', 'jsonl')
    """
    from stele import catalogue
    from stele.catalogue.schema.benchmarks import Benchmark

    known = catalogue.entries(Benchmark)
    return (known[name].module if name in known else None) or name


def load_reader(name: str, kind: type[Reader]) -> Reader:
    """The reader of a benchmark by its name, or of a training set by its file, which must be of a kind of `reader.py`.

    Raises SteleError for an unknown name, with the nearest one, and for a file without a class of that kind.
    """
    module = load_named(__name__, module_of(name), kind.KIND)
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, kind) and value.__module__ == module.__name__:
            return value()
    raise SteleError(f"{kind.KIND} {name} has no {kind.READS}")
