"""Test collections: their judged topics and their documents; documents whose id comes again are counted once."""

from __future__ import annotations

from stele.benchmarks import collection
from stele.benchmarks.types import Data
from stele.catalogue import datasets
from stele.scoring.statistics._counting import number_of


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """topics and documents by language; `repeated`: how many more documents have the id of a later one."""
    languages = {code for name in data for code in datasets.languages_of(datasets.dataset(name))}
    counted: dict[str, dict[str, int] | int] = {"topics": {}, "documents": {}, "repeated": {}}
    for query_set in collection.query_sets(sorted(languages)):
        language = query_set.language
        queries = number_of(collection.queries(data, query_set), f"topics of {language}")
        for what, number in zip(counted, (queries, *collection.document_counts(data, language)), strict=True):
            counted[what][language] = number
    return counted
