"""Mewsli-X: English training and dev pairs from Wikipedia, test mentions in WikiNews, candidate entities.

The release alone is counted; the texts of the news are not needed for it.
KEPT's table 1 counts as here, but for the test set: it has the articles there (9,608) and not their 14,624 mentions.
"""

from __future__ import annotations

from stele.benchmarks import mewsli_x
from stele.benchmarks.types import Data
from stele.catalogue import datasets
from stele.scoring.statistics._counting import by_language, present


def counts(data: Data) -> dict[str, dict[str, int] | int]:
    """queries_train, queries_dev, queries_test by language; their languages; passages by the description's language."""
    query_sets = mewsli_x.query_sets(datasets.languages_of(datasets.dataset(mewsli_x.DATASET)))
    queries = {
        f"queries_{split}": by_language(
            (example.language for example in mewsli_x.training(data, split)), f"{split} pairs"
        )
        for split in ("train", "dev")
    }
    test = {s.language: len(mewsli_x.judgments(data, s)) for s in query_sets}
    queries["queries_test"] = {language: number for language, number in test.items() if number}
    passages = by_language(mewsli_x.candidate_languages(data), "candidates")
    return {
        **queries,
        "languages": present(queries["queries_test"]),
        "passages": passages,
        "passage_languages": present(passages),
    }
