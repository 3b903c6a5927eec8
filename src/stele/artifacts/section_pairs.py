"""Section pairs on disk, as texts: what `pairs section_pairs` writes and `pairs tokenise_sections` reads.

Beside the record.json of a part ("de-en") lie

    sections.parquet  side int8 (0: the first language), page int32 (its number in the knowledge base), heading string
                      ("" of a lead), sentences list<string>; a row a section, of all pages that have a pair: those of
                      side 0 first, pages ascending, sections in reading order
    pairs.parquet     first int64, second int64 (rows of the sections of the first and of the second language),
                      similarity float64 (cosine of their headings); a row a pair, in an order drawn by the seed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stele.files.reading import reading

SECTIONS, PAIRS = "sections.parquet", "pairs.parquet"
SECTIONS_SCHEMA = pa.schema(
    [("side", pa.int8()), ("page", pa.int32()), ("heading", pa.string()), ("sentences", pa.list_(pa.string()))]
)
PAIRS_SCHEMA = pa.schema([("first", pa.int64()), ("second", pa.int64()), ("similarity", pa.float64())])
BATCH = 1 << 12  # sections of a row group


class TextSection(NamedTuple):
    """A section of a page: which side's page, its number, the section's heading and its sentences."""

    side: int
    page: int
    heading: str
    sentences: list[str]


def write_sections(folder: Path, sections: Iterable[TextSection]) -> None:
    """Writes sections.parquet; memory is bounded by one row group."""
    sections = iter(sections)
    with pq.ParquetWriter(folder / SECTIONS, SECTIONS_SCHEMA, compression="zstd") as file:
        while block := list(islice(sections, BATCH)):
            columns = zip(*block, strict=True)
            arrays = [pa.array(list(c), f.type) for c, f in zip(columns, SECTIONS_SCHEMA, strict=True)]
            file.write_batch(pa.record_batch(arrays, schema=SECTIONS_SCHEMA))


KIND = "file of section pairs", "mine the pairs again"


def read_sections(folder: Path) -> Iterator[list[TextSection]]:
    """The sections in order, BATCH at a time."""
    path = folder / SECTIONS
    with reading(path, *KIND), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH, columns=SECTIONS_SCHEMA.names):
            columns = (column.to_pylist() for column in batch.columns)
            yield [TextSection(*row) for row in zip(*columns, strict=True)]


def write_pairs(folder: Path, first: np.ndarray, second: np.ndarray, similarity: np.ndarray) -> None:
    """Writes pairs.parquet, its columns [pairs] each."""
    pq.write_table(pa.table([first, second, similarity], schema=PAIRS_SCHEMA), folder / PAIRS, compression="zstd")


def read_pairs(folder: Path) -> np.ndarray:
    """int64 [pairs, 2]: the rows of the two sections of each pair, in order."""
    path = folder / PAIRS
    with reading(path, *KIND):
        table = pq.read_table(path, columns=["first", "second"])
        return np.stack([column.to_numpy() for column in table.columns], axis=1).astype(np.int64)
