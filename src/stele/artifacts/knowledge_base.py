"""File formats of the knowledge base of one wiki, and of the section pairs of two wikis.

A knowledge base has the pages of one wiki with their entities, and the links between them (KEPT, Zhang et al.,
LREC-COLING 2024, section 3.2): pages.parquet has a row per page, in the order of the documents; links.parquet is
ascending, without doubles and without links from a page to itself. `corpora knowledge_base` writes both.

Section pairs are texts, which `pairs section_pairs` writes and `pairs tokenise_sections` reads: sections.parquet has
all sections of the pages with a pair, side 0 first, in reading order; pairs.parquet has the pairs, in an order drawn by
the seed. Both lie beside the record.json of a part ("de-en").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stele.errors import SteleError
from stele.files.reading import reading

if TYPE_CHECKING:
    import duckdb


PAGES, LINKS = "pages.parquet", "links.parquet"
PAGES_SCHEMA = pa.schema(
    [
        ("page", pa.int32()),  # the number of the row
        ("doc_id", pa.string()),
        ("title", pa.string()),  # in normal form
        ("entity", pa.int64()),  # 5582 for Q5582; null for a page without one
        ("sentences", pa.int32()),  # their number
    ]
)
LINKS_SCHEMA = pa.schema([("page", pa.int32()), ("sentence", pa.int32()), ("target", pa.int32())])
ENTITIES_SCHEMA = pa.schema([("title", pa.string()), ("entity", pa.int64())])  # {wiki}.parquet of page_entities
PAIRS_SCHEMA = pa.schema([(name, pa.int32()) for name in ("page_a", "sentence_a", "page_b", "sentence_b")])
BATCH = 1 << 16  # rows of a batch of pairs
LEAST_MB = 64  # memory below which DuckDB cannot work at all


def links_path(record: Path | str) -> Path:
    """Path of the links of the knowledge base with this record.json. Raises SteleError if missing or damaged."""
    return _checked(Path(record).parent / LINKS, LINKS_SCHEMA)


def read_pages(record: Path | str, columns: list[str] | None = None) -> pa.Table:
    """Reads the pages, or some columns of them, in order: row n is page n. Raises SteleError as `links_path`."""
    path = _checked(Path(record).parent / PAGES, PAGES_SCHEMA)
    with reading(path, "Parquet file", "delete its folder and build it again"):
        return pq.read_table(path, columns=columns)


def _checked(path: Path, schema: pa.Schema) -> Path:
    if not path.exists():
        raise SteleError(f"{path}: no such file; build the knowledge base first")
    with reading(path, "Parquet file", "delete its folder and build it again"):
        present = pq.read_schema(path)
    for field in schema:
        if field.name not in present.names or present.field(field.name).type != field.type:
            columns = ", ".join(f"{name} {kind}" for name, kind in zip(present.names, present.types, strict=True))
            raise SteleError(f"{path}: want column {field.name} of type {field.type}, found: {columns}; build it again")
    return path


@contextmanager
def database(memory_mb: int, threads: int, temporary: Path, what: object) -> Iterator[duckdb.DuckDBPyConnection]:
    """Opens a new DuckDB that keeps within `memory_mb`, spills into the folder `temporary` and downloads nothing.

    Python, Arrow and uncounted memory of DuckDB need some 400 MB more. Raises SteleError if a limit is too low or a
    query fails, as without memory or disk; the error names `what`, the file or language at work.
    """
    import duckdb

    for name, value, least in (("memory_mb", memory_mb, LEAST_MB), ("threads", threads, 1)):
        if value < least:
            raise SteleError(f"{name.replace('_', '-')} {value}: want at least {least}")
    options = {
        "memory_limit": f"{memory_mb}MiB",
        "threads": threads,
        "temp_directory": str(temporary),
        "preserve_insertion_order": False,  # queries order every kept result themselves
        "autoinstall_known_extensions": False,
    }
    connection = duckdb.connect(":memory:", config=options)
    try:
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise SteleError(
            f"{what}: {memory_mb} MB of memory and the disk of {temporary} are not enough for the join "
            f"({_first_line(error)}); give more memory, fewer threads or a larger disk"
        ) from None
    except (duckdb.Error, pa.ArrowException) as error:
        raise SteleError(
            f"{what}: the join failed ({_first_line(error)}); a file is damaged, or the disk of {temporary} is full"
        ) from None
    finally:
        connection.close()


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def symmetric_pairs(links: Path, memory_mb: int, threads: int, temporary: Path) -> Iterator[pa.RecordBatch]:
    """Yields the symmetrically linked sentences of links.parquet, as batches of PAIRS_SCHEMA, ascending and distinct.

    Sentence a of page a links to page b, and sentence b of page b to page a, with page a < page b: KEPT's equation 2.
    The join takes links to higher pages on one side and links to lower pages on the other, so each pair is found once.
    """
    with database(memory_mb, threads, temporary, links) as connection:
        for batch in connection.sql(SYMMETRIC, params=[str(links)] * 2).to_arrow_reader(BATCH):
            yield batch.cast(PAIRS_SCHEMA)


SYMMETRIC = """
    SELECT a.page AS page_a, a.sentence AS sentence_a, b.page AS page_b, b.sentence AS sentence_b
    FROM (SELECT * FROM read_parquet(?, hive_partitioning = false) WHERE page < target) AS a
    JOIN (SELECT * FROM read_parquet(?, hive_partitioning = false) WHERE page > target) AS b
        ON a.page = b.target AND a.target = b.page
    ORDER BY ALL
"""


SECTIONS, SECTION_PAIRS = "sections.parquet", "pairs.parquet"
SECTIONS_SCHEMA = pa.schema(
    [("side", pa.int8()), ("page", pa.int32()), ("heading", pa.string()), ("sentences", pa.list_(pa.string()))]
)
# rows of the sections of both languages, and the cosine of their headings
SECTION_PAIRS_SCHEMA = pa.schema([("first", pa.int64()), ("second", pa.int64()), ("similarity", pa.float64())])
GROUP_SECTIONS = 1 << 12  # sections of a row group


class TextSection(NamedTuple):
    """A section: the side (0: first language, 1: second) and number of its page, its heading and its sentences."""

    side: int
    page: int
    heading: str
    sentences: list[str]


def write_sections(folder: Path, sections: Iterable[TextSection]) -> None:
    """Writes sections.parquet; memory is bounded by one row group."""
    sections = iter(sections)
    with pq.ParquetWriter(folder / SECTIONS, SECTIONS_SCHEMA, compression="zstd") as file:
        while block := list(islice(sections, GROUP_SECTIONS)):
            columns = zip(*block, strict=True)
            arrays = [pa.array(list(c), f.type) for c, f in zip(columns, SECTIONS_SCHEMA, strict=True)]
            file.write_batch(pa.record_batch(arrays, schema=SECTIONS_SCHEMA))


SECTION_FILE = "file of section pairs", "mine the pairs again"


def read_sections(folder: Path) -> Iterator[list[TextSection]]:
    """Yields the sections in order, in lists of up to GROUP_SECTIONS. Raises SteleError for a damaged file."""
    path = folder / SECTIONS
    with reading(path, *SECTION_FILE), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(GROUP_SECTIONS, columns=SECTIONS_SCHEMA.names):
            columns = (column.to_pylist() for column in batch.columns)
            yield [TextSection(*row) for row in zip(*columns, strict=True)]


def write_pairs(folder: Path, first: np.ndarray, second: np.ndarray, similarity: np.ndarray) -> None:
    """Writes pairs.parquet from `first` and `second` (int64) and `similarity` (float64), arrays of shape [pairs]."""
    pq.write_table(
        pa.table([first, second, similarity], schema=SECTION_PAIRS_SCHEMA), folder / SECTION_PAIRS, compression="zstd"
    )


def read_pairs(folder: Path) -> np.ndarray:
    """Reads the section rows of each pair, int64 [pairs, 2], in order. Raises SteleError for a damaged file."""
    path = folder / SECTION_PAIRS
    with reading(path, *SECTION_FILE):
        table = pq.read_table(path, columns=["first", "second"])
        return np.stack([column.to_numpy() for column in table.columns], axis=1).astype(np.int64)
