"""A knowledge base on disk: the pages of one wiki with their entities, and the links between them.

Made by `corpora knowledge_base`; beside its record.json lie

    pages.parquet  page int32, doc_id string, title string (normal form), entity int64 (5582 for Q5582, null where there
                   is none), sentences int32 (how many); a row a page, in the order of the documents: page = row
    links.parquet  page int32, sentence int32, target int32 (pages by number): distinct, ascending, no link of a page to
                   itself

KEPT (Zhang et al., LREC-COLING 2024), section 3.2: pages and hyperlinks are the knowledge within a language, entities
align the pages of different languages.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from stele.errors import SteleError
from stele.files.reading import reading

if TYPE_CHECKING:
    import duckdb

PAGES, LINKS = "pages.parquet", "links.parquet"
PAGES_SCHEMA = pa.schema(
    [
        ("page", pa.int32()),
        ("doc_id", pa.string()),
        ("title", pa.string()),
        ("entity", pa.int64()),
        ("sentences", pa.int32()),
    ]
)
LINKS_SCHEMA = pa.schema([("page", pa.int32()), ("sentence", pa.int32()), ("target", pa.int32())])
ENTITIES_SCHEMA = pa.schema([("title", pa.string()), ("entity", pa.int64())])  # {wiki}.parquet of page_entities
PAIRS_SCHEMA = pa.schema([(name, pa.int32()) for name in ("page_a", "sentence_a", "page_b", "sentence_b")])
BATCH = 1 << 16  # rows of a batch of pairs
LEAST_MB = 64  # memory below which DuckDB cannot work at all


def pages_path(record: Path | str) -> Path:
    """The pages of the knowledge base with this record.json; missing, damaged or of another shape is an error."""
    return _checked(Path(record).parent / PAGES, PAGES_SCHEMA)


def links_path(record: Path | str) -> Path:
    """The links of the knowledge base with this record.json; missing, damaged or of another shape is an error."""
    return _checked(Path(record).parent / LINKS, LINKS_SCHEMA)


def read_pages(record: Path | str, columns: list[str] | None = None) -> pa.Table:
    """The pages (or only some columns of them) in order: row n is page n."""
    return _read(pages_path(record), columns)


def _checked(path: Path, schema: pa.Schema) -> Path:
    if not path.exists():
        raise SteleError(f"{path}: no such file; build the knowledge base first")
    with reading(path, "Parquet file", "delete its folder and build it again"):
        present = pq.read_schema(path)
    for field in schema:
        if field.name not in present.names or present.field(field.name).type != field.type:
            there = ", ".join(f"{name} {kind}" for name, kind in zip(present.names, present.types, strict=True))
            raise SteleError(f"{path}: want column {field.name} of type {field.type}, found: {there}; build it again")
    return path


def _read(path: Path, columns: list[str] | None) -> pa.Table:
    with reading(path, "Parquet file", "delete its folder and build it again"):
        return pq.read_table(path, columns=columns)


@contextmanager
def database(memory_mb: int, threads: int, temporary: Path, what: object) -> Iterator[duckdb.DuckDBPyConnection]:
    """A new DuckDB that keeps within `memory_mb`, spills into the folder `temporary` and downloads nothing.

    Python, Arrow and what DuckDB does not count come on top: some 400 MB. What goes wrong inside, memory and disk above
    all, is an error that names `what`, the file or language that is worked on.
    """
    import duckdb

    for name, value, least in (("memory_mb", memory_mb, LEAST_MB), ("threads", threads, 1)):
        if value < least:
            raise SteleError(f"{name.replace('_', '-')} {value}: want at least {least}")
    options = {
        "memory_limit": f"{memory_mb}MiB",
        "threads": threads,
        "temp_directory": str(temporary),
        "preserve_insertion_order": False,  # every result that is kept is ordered by its query
        "autoinstall_known_extensions": False,
    }
    connection = duckdb.connect(":memory:", config=options)
    try:
        yield connection
    except duckdb.OutOfMemoryException as error:
        raise SteleError(
            f"{what}: {memory_mb} MB of memory and the disk of {temporary} do not hold the join "
            f"({_first_line(error)}); give more memory, fewer threads or a larger disk"
        ) from None
    except (duckdb.Error, pa.ArrowException) as error:
        raise SteleError(
            f"{what}: the join failed ({_first_line(error)}); a damaged file or, in {temporary}, a full disk"
        ) from None
    finally:
        connection.close()


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def symmetric_pairs(links: Path, memory_mb: int, threads: int, temporary: Path) -> Iterator[pa.RecordBatch]:
    """The symmetrically linked sentences of links.parquet, as batches of PAIRS_SCHEMA, ascending and distinct.

    Sentence a of page a links to page b and sentence b of page b to page a, page a < page b: KEPT's equation 2. The
    links are split into those that lead up and those that lead down, so that one half meets the other once.
    """
    with database(memory_mb, threads, temporary, links) as connection:
        for batch in connection.sql(SYMMETRIC, params=[str(links)] * 2).to_arrow_reader(BATCH):
            yield batch.cast(PAIRS_SCHEMA)


SYMMETRIC = """
    SELECT a.page AS page_a, a.sentence AS sentence_a, b.page AS page_b, b.sentence AS sentence_b
    FROM (SELECT * FROM read_parquet(?) WHERE page < target) AS a
    JOIN (SELECT * FROM read_parquet(?) WHERE page > target) AS b ON a.page = b.target AND a.target = b.page
    ORDER BY ALL
"""
