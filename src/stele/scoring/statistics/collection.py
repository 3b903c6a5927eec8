"""Test collections: their judged topics and their documents; documents whose id comes again are counted once."""

from __future__ import annotations

from stele.benchmarks.collection import AdHocCollection, document_counts
from stele.benchmarks.types import Data
from stele.catalogue import datasets
from stele.catalogue.datasets import COLLECTION
from stele.scoring.statistics import Counts, DatasetCounts, number_of


def counts(data: Data) -> Counts:
    """topics and documents by language; `repeated`: how many more documents have the id of a later one."""
    languages = {code for name in data for code in datasets.languages_of(datasets.dataset(name))}
    numbers: Counts = {"topics": {}, "documents": {}, "repeated": {}}
    for query_set in AdHocCollection().query_sets(sorted(languages)):
        language = query_set.language
        numbers["topics"][language] = number_of(AdHocCollection().queries(data, query_set), f"topics of {language}")
        documents, repeated = document_counts(data, language)
        numbers["documents"][language] = documents
        numbers["repeated"][language] = repeated
    return numbers


COUNTED = {COLLECTION: DatasetCounts(counts)}
