"""A transfer set: queries made for the passages of a language, the passages as positives, and hard negatives.

A folder that `stele retrieval title_queries` or `generate_queries` writes, for each language:

    passages.parquet   id, text: every passage that is a positive or a negative, once
    queries.parquet    query, positive (int32, a line of the other file), negatives (int32 list of lines)

All examples are for training.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stele.benchmarks._files import located
from stele.benchmarks._tables import typed_columns
from stele.benchmarks.types import Data, Passage, TrainingExample
from stele.errors import SteleError

PASSAGES, QUERIES = "passages.parquet", "queries.parquet"
AGAIN = "make the transfer set again"


def training(data: Data, split: str) -> Iterator[TrainingExample]:
    """The examples of all languages given, in the order in which they were made; a passage has no title."""
    if split != "train":
        raise SteleError(f"a transfer set has no split {split!r}; valid: train")
    for parts in data.values():
        for language, folder in parts.items():
            yield from _examples(folder, language)


def _examples(folder: Path, language: str) -> Iterator[TrainingExample]:
    passages = typed_columns(located(folder, PASSAGES), {"id": str, "text": str}, AGAIN)
    path = located(folder, QUERIES)
    queries = typed_columns(path, {"query": str, "positive": int, "negatives": list}, AGAIN)
    ids, texts = passages["id"], passages["text"]
    for query, positive, negatives in zip(*queries.values(), strict=True):
        lines = [positive.as_py(), *negatives.as_py()]
        if not all(0 <= line < len(ids) for line in lines):
            raise SteleError(f"{path}: a line outside {PASSAGES}; {AGAIN}")
        named = [Passage(ids[line].as_py(), "", texts[line].as_py()) for line in lines]
        yield TrainingExample(query.as_py(), named[:1], named[1:], language)
