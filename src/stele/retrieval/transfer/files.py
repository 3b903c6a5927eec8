"""Writing a transfer set; `benchmarks/transfer_set.py` reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from stele.benchmarks.transfer_set import PASSAGES, QUERIES

GROUP = 2_000  # passages of a row group


def write_set(
    folder: Path,
    passages: Iterable[tuple[str, str]],
    queries: Sequence[str],
    positives: Sequence[int],
    negatives: Iterable[Sequence[int]],
) -> None:
    """Writes the two files of a set: (id, text) of the passages, and the queries with the lines of their passages.

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
