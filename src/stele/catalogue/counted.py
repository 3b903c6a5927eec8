"""What is counted under a name: a dataset, or a test collection, whose documents and topics may be two."""

from __future__ import annotations

from typing import NamedTuple

from stele import catalogue
from stele.catalogue.schema.benchmarks import Benchmark

COLLECTION = "collection"  # the module of stele/benchmarks that reads test collections; scoring/statistics' name


class Counted(NamedTuple):
    """How scoring/statistics calls what is counted, and the datasets that are read.

    `lengths_in` is the model in whose tokens documents are measured, where their lengths are counted.
    """

    module: str
    datasets: list[str]
    lengths_in: str | None = None


def counted_dataset(name: str) -> Counted:
    """How a dataset or a test collection is counted.

    >>> counted_dataset("trec3_es")
    Counted(module='collection', datasets=['trec3_es', 'trec3_es_topics'], lengths_in=None)
    >>> counted_dataset("mrtydi")
    Counted(module='mrtydi', datasets=['mrtydi'], lengths_in=None)
    """
    entry = catalogue.entries(Benchmark).get(name)
    if entry is None or entry.module != COLLECTION:
        return Counted(name, [name], entry and entry.lengths_in)
    return Counted(COLLECTION, list(dict.fromkeys([*entry.data, *entry.judgments])))
