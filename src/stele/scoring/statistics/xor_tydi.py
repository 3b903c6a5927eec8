"""XOR-Retrieve: questions of train and dev; the test questions have no public answers."""

from __future__ import annotations

from stele.benchmarks import xor_retrieve
from stele.benchmarks.types import Data
from stele.catalogue import datasets
from stele.scoring.statistics._counting import number_of, present


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """queries_train and queries_dev by language; the languages that have a dev question."""
    query_sets = xor_retrieve.query_sets(datasets.languages_of(datasets.dataset(xor_retrieve.QUESTIONS)))
    counted: dict[str, dict[str, int] | int] = {}
    for split in xor_retrieve.FILES:
        questions = {
            s.language: number_of(xor_retrieve.queries(data, s, split), f"{split} {s.language}") for s in query_sets
        }
        counted[f"queries_{split}"] = {language: number for language, number in questions.items() if number}
    return {**counted, "languages": present(counted["queries_dev"])}
