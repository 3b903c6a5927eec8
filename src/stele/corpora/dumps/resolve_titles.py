"""Resolve titles to page numbers: the joins of a knowledge base, in DuckDB, within its memory limit.

The tables, in the order of their creation:

    pages     page, doc_id, title, sentences            all pages, numbered in the order of the documents
    own       title -> page, pages                      the first page of each title, and the number of its pages
    redirects id, title, target                         the first redirect of each title that no page has
    names     title -> page, how                        all titles of pages and redirects, with page null for dead ends
    entities  page -> entity, how, several              see `find_entities`
    resolved  page, sentence, target, how               all links, with target null for an unresolved link
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from stele.artifacts.knowledge_base import LINKS_SCHEMA

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# how a title resolves: to a page of this title, through a redirect, not at all, to a dead end, into a loop
DIRECT, REDIRECTED, MISSING, TO_NOTHING, LOOP = range(5)


def follow(pages: np.ndarray, following: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Follows all redirects. Returns (page or -1, int32 [n]; REDIRECTED, TO_NOTHING or LOOP, uint8 [n]).

    pages       int32 [n], the page that has the target's title, or -1
    following   int32 [n], the redirect that has the target's title, or -1; ignored if there is such a page

    Each round doubles how far every redirect has been followed, so a chain of any length takes log2(n) rounds.

    >>> follow(np.array([-1, 7, -1, -1]), np.array([1, -1, 2, -1]))  # a chain, its end, a loop, a way to nothing
    (array([ 7,  7, -1, -1], dtype=int32), array([1, 1, 4, 3], dtype=uint8))
    """
    itself = np.arange(len(pages), dtype=np.int32)
    last = (pages >= 0) | (following < 0)
    at = np.where(last, itself, following).astype(np.int32)
    for _ in range(len(pages).bit_length()):
        unfinished = np.flatnonzero(~last[at])
        if not len(unfinished):
            break
        at[unfinished] = at[at[unfinished]]
    ends = np.where(last[at], pages[at], -1).astype(np.int32)
    outcomes = np.select([~last[at], ends < 0], [LOOP, TO_NOTHING], REDIRECTED).astype(np.uint8)
    return ends, outcomes


PAGE_ROWS = pa.schema(
    [("page", pa.int32()), ("doc_id", pa.string()), ("title", pa.string()), ("sentences", pa.int32())]
)
REDIRECT_ROWS = pa.schema([("number", pa.int64()), ("title", pa.string()), ("target", pa.string())])
LINK_ROWS = pa.schema([("page", pa.int32()), ("sentence", pa.int32()), ("target", pa.string())])
REASONS = {MISSING: "missing_page", TO_NOTHING: "redirect_to_nothing", LOOP: "redirect_loop"}


@contextmanager
def streamed(connection: DuckDBPyConnection, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[None]:
    """Lets queries read `batches` once, as the table `rows`; re-raises an error of the batches' iterator as it is."""
    import duckdb

    failed: list[Exception] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except Exception as error:
            failed.append(error)
            raise

    connection.register("rows", pa.RecordBatchReader.from_batches(schema, watched()))
    try:
        yield
    except duckdb.Error:
        if failed:
            raise failed[0] from None
        raise
    finally:
        connection.unregister("rows")


def _read_numbers(connection: DuckDBPyConnection, query: str) -> tuple[int, ...]:
    """Runs a query with one row of numbers and returns them; null becomes 0."""
    return tuple(int(value or 0) for value in connection.execute(query).fetchall()[0])


def load_pages(connection: DuckDBPyConnection, batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    """Creates the tables `pages` and `own` from batches of PAGE_ROWS. Returns the counts for the record."""
    with streamed(connection, batches, PAGE_ROWS):
        connection.execute("CREATE TABLE pages AS SELECT * FROM rows")
    connection.execute(
        "CREATE TABLE own AS SELECT title, min(page) AS page, count(*)::INTEGER AS pages FROM pages GROUP BY title"
    )
    pages, repeated = _read_numbers(connection, "SELECT sum(pages), sum(pages - 1) FROM own")
    return {"pages": pages, "repeated_titles": repeated}


def load_redirects(connection: DuckDBPyConnection, batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    """Creates the tables `redirects` and `names` from batches of REDIRECT_ROWS. Returns the counts for the record.

    Of several redirects with one title the first counts; a redirect with the title of a page is ignored.
    """
    with streamed(connection, batches, REDIRECT_ROWS):
        connection.execute("CREATE TABLE redirect_rows AS SELECT * FROM rows")
    connection.execute(
        """
        CREATE TABLE redirects AS
        WITH first AS (
            SELECT min(number) AS number FROM redirect_rows ANTI JOIN own USING (title) GROUP BY title
        )
        SELECT (row_number() OVER (ORDER BY number) - 1)::INTEGER AS id, title, target
        FROM redirect_rows JOIN first USING (number)
        """
    )
    total, of_pages = _read_numbers(
        connection, "SELECT count(*), count(own.page) FROM redirect_rows LEFT JOIN own USING (title)"
    )
    connection.execute("DROP TABLE redirect_rows")
    steps = connection.sql(
        """
        SELECT coalesce(own.page, -1) AS page, coalesce(following.id, -1) AS following
        FROM redirects LEFT JOIN own ON own.title = redirects.target
        LEFT JOIN redirects AS following ON following.title = redirects.target ORDER BY redirects.id
        """
    ).to_arrow_table()
    pages, outcomes = follow(steps["page"].to_numpy(), steps["following"].to_numpy())
    ends = pa.table({"id": np.arange(len(pages), dtype=np.int32), "page": pages, "how": outcomes})
    connection.register("ends", ends)
    connection.execute(
        f"""
        CREATE TABLE names AS SELECT title, page, {DIRECT}::UTINYINT AS how FROM own
        UNION ALL SELECT title, if(ends.page < 0, NULL, ends.page), how FROM redirects JOIN ends USING (id)
        """
    )
    connection.unregister("ends")
    distinct, nothing, loops = _read_numbers(
        connection, f"SELECT count(*), count_if(how = {TO_NOTHING}), count_if(how = {LOOP}) FROM names WHERE how > 0"
    )
    return {
        "redirects": total,
        "redirects_with_title_of_a_page": of_pages,
        "repeated_redirects": total - of_pages - distinct,
        "redirects_to_nothing": nothing,
        "redirects_in_a_loop": loops,
    }


def find_entities(connection: DuckDBPyConnection, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> dict:
    """Creates the table `entities` (the item that each page is about) from batches of title and entity.

    An item with the page's own title has priority; otherwise the smallest item with the title of a redirect counts.
    """
    with streamed(connection, batches, schema):
        connection.execute(
            f"""
            CREATE TABLE entities AS
            SELECT page, coalesce(min(entity) FILTER (how = {DIRECT}), min(entity)) AS entity, min(how) AS how,
                min(entity) <> max(entity) AS several
            FROM rows JOIN names USING (title) WHERE page IS NOT NULL GROUP BY page
            """
        )
    names = ("pages_with_entity", "entities_by_redirect", "pages_with_several_entities")
    counts = f"SELECT count(*), count_if(how = {REDIRECTED}), count_if(several) FROM entities"
    return dict(zip(names, _read_numbers(connection, counts), strict=True))


def resolve_links(connection: DuckDBPyConnection, batches: Iterable[pa.RecordBatch]) -> dict:
    """Creates the table `resolved` from batches of LINK_ROWS. Counts links by way of resolution or reason of failure.

    Links of a page to itself are resolved and counted apart, as are links to another page of the page's own title.
    """
    with streamed(connection, batches, LINK_ROWS):
        connection.execute(
            f"""
            CREATE TABLE resolved AS
            SELECT rows.page, rows.sentence, names.page AS target, coalesce(names.how, {MISSING})::UTINYINT AS how
            FROM rows LEFT JOIN names ON names.title = rows.target
            """
        )
    connection.execute(
        """
        CREATE TABLE first AS SELECT pages.page, own.page AS first
        FROM pages JOIN own USING (title) WHERE own.pages > 1 AND pages.page <> own.page
        """
    )
    connection.execute(
        """
        UPDATE resolved SET target = resolved.page FROM first
        WHERE first.page = resolved.page AND first.first = resolved.target
        """
    )
    counts = dict(connection.execute("SELECT how, count(*) FROM resolved GROUP BY how").fetchall())
    (to_itself,) = _read_numbers(connection, "SELECT count(*) FROM resolved WHERE target = page")
    return {
        "found": sum(counts.values()),
        "direct": counts.get(DIRECT, 0),
        "redirected": counts.get(REDIRECTED, 0),
        "unresolved": {name: counts.get(how, 0) for how, name in REASONS.items()},
        "to_itself": to_itself,
    }


def pages_in_order(connection: DuckDBPyConnection, batch: int) -> pa.RecordBatchReader:
    """Reads the pages in batches with the columns of PAGES_SCHEMA, ordered by page."""
    return connection.sql(
        """
        SELECT page, doc_id, title, entity, sentences FROM pages LEFT JOIN entities USING (page) ORDER BY page
        """
    ).to_arrow_reader(batch)


def links_in_order(connection: DuckDBPyConnection, batch: int) -> Iterator[pa.RecordBatch]:
    """Yields the links in batches of LINKS_SCHEMA, ascending; a link that a sentence repeats is repeated."""
    reader = connection.sql(
        "SELECT page, sentence, target FROM resolved WHERE target <> page ORDER BY page, sentence, target"
    ).to_arrow_reader(batch)
    for links in reader:
        yield links.cast(LINKS_SCHEMA)
