"""A transfer set: queries made for the passages of a language, the passages as positives, and hard negatives.

A folder that `stele retrieval title_queries` or `generate_queries` writes, for each language:

    passages.parquet   id, text: every passage that is a positive or a negative, once
    queries.parquet    query, positive (int32, a line of the other file), negatives (int32 list of lines)

All examples are for training.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from stele.benchmarks._files import located
from stele.benchmarks._tables import typed_columns
from stele.benchmarks.types import Data, Passage, TrainingExample
from stele.errors import SteleError

PASSAGES, QUERIES = "passages.parquet", "queries.parquet"
AGAIN = "make the transfer set again"
GROUP = 2_000  # passages of a row group


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


def write_set(
    folder: Path,
    passages: Iterable[tuple[str, str]],
    queries: Sequence[str],
    positives: Sequence[int],
    negatives: Iterable[Sequence[int]],
) -> None:
    """Writes the two files of a set: the passages (id, text), and the queries with the lines of their passages.

    Memory is bounded by a row group and the queries.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema, passages = pa.schema({"id": pa.large_string(), "text": pa.large_string()}), iter(passages)
    with pq.ParquetWriter(folder / PASSAGES, schema, compression="zstd") as writer:
        while group := list(islice(passages, GROUP)):
            writer.write_table(pa.table([list(column) for column in zip(*group, strict=True)], schema=schema))
    table = {
        "query": pa.array(queries, pa.large_string()),
        "positive": pa.array(positives, pa.int32()),
        "negatives": pa.array(list(negatives), pa.list_(pa.int32())),
    }
    pq.write_table(pa.table(table), folder / QUERIES, compression="zstd")
