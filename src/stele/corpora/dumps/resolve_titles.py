"""Titles to page numbers: the joins of a knowledge base, in DuckDB, within its memory limit.

Tables, in the order of their making:

    pages     page, doc_id, title, sentences            all pages, numbered in the order of the documents
    own       title -> page, pages                      the first page of each title, and how many have it
    redirects id, title, target                         the first redirect of each title that no page has
    names     title -> page, how                        all titles that lead somewhere, or are known to lead nowhere
    entities  page -> entity, how, several              see `find_entities`
    resolved  page, sentence, target, how               a row a link; target null where it could not be resolved
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


# what became of a title: a page's own, a redirect that ends at a page, neither, a redirect that ends nowhere or never
DIRECT, REDIRECTED, MISSING, TO_NOTHING, LOOP = range(5)


def follow(pages: np.ndarray, following: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(page or -1, REDIRECTED, TO_NOTHING or LOOP) of each redirect, int32 and uint8 [n].

    pages       int32 [n], the page whose title the target is, -1 where there is none
    following   int32 [n], the redirect whose title the target is, -1 where there is none; ignored beside a page

    Each round doubles how far every redirect has been followed, so a chain of any length takes log2(n) rounds.

    >>> follow(np.array([-1, 7, -1, -1]), np.array([1, -1, 2, -1]))  # a chain, its end, a loop, a way to nothing
    (array([ 7,  7, -1, -1], dtype=int32), array([1, 1, 4, 3], dtype=uint8))
    """
    itself = np.arange(len(pages), dtype=np.int32)
    last = (pages >= 0) | (following < 0)
    at = np.where(last, itself, following).astype(np.int32)
    for _ in range(len(pages).bit_length()):
        going = np.flatnonzero(~last[at])
        if not len(going):
            break
        at[going] = at[at[going]]
    ends = np.where(last[at], pages[at], -1).astype(np.int32)
    how = np.select([~last[at], ends < 0], [LOOP, TO_NOTHING], REDIRECTED).astype(np.uint8)
    return ends, how


PAGE_ROWS = pa.schema(
    [("page", pa.int32()), ("doc_id", pa.string()), ("title", pa.string()), ("sentences", pa.int32())]
)
REDIRECT_ROWS = pa.schema([("number", pa.int64()), ("title", pa.string()), ("target", pa.string())])
LINK_ROWS = pa.schema([("page", pa.int32()), ("sentence", pa.int32()), ("target", pa.string())])
REASONS = {MISSING: "missing_page", TO_NOTHING: "redirect_to_nothing", LOOP: "redirect_loop"}


@contextmanager
def streamed(
    connection: DuckDBPyConnection, name: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema
) -> Iterator[None]:
    """Lets queries read `batches` once, as the table `name`; an error of their making stays what it is."""
    import duckdb

    failed: list[Exception] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except Exception as error:
            failed.append(error)
            raise

    connection.register(name, pa.RecordBatchReader.from_batches(schema, watched()))
    try:
        yield
    except duckdb.Error:
        if failed:
            raise failed[0] from None
        raise
    finally:
        connection.unregister(name)


def _read_numbers(connection: DuckDBPyConnection, query: str) -> tuple[int, ...]:
    """The numbers of a query of one row."""
    return tuple(int(value or 0) for value in connection.execute(query).fetchall()[0])


def load_pages(connection: DuckDBPyConnection, batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    """Tables `pages` and `own`, from batches of PAGE_ROWS."""
    with streamed(connection, "rows", batches, PAGE_ROWS):
        connection.execute("CREATE TABLE pages AS SELECT * FROM rows")
    connection.execute(
        "CREATE TABLE own AS SELECT title, min(page) AS page, count(*)::INTEGER AS pages FROM pages GROUP BY title"
    )
    pages, repeated = _read_numbers(connection, "SELECT sum(pages), sum(pages - 1) FROM own")
    return {"pages": pages, "repeated_titles": repeated}


def load_redirects(connection: DuckDBPyConnection, batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    """Tables `redirects` and `names`, from batches of REDIRECT_ROWS.

    Of redirects with one title the first counts; one whose title a page has is no way to that title.
    """
    with streamed(connection, "rows", batches, REDIRECT_ROWS):
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
    pages, how = follow(steps["page"].to_numpy(), steps["following"].to_numpy())
    ends = pa.table({"id": np.arange(len(pages), dtype=np.int32), "page": pages, "how": how})
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
    """Table `entities` from batches of title and entity: what each page is about.

    An item that has the page's own title comes first; else the smallest of those that have a redirect to it.
    """
    with streamed(connection, "rows", batches, schema):
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
    """Table `resolved`, from batches of LINK_ROWS; how many were, by which way, and why the others were not.

    A link from a page to itself, also from a page that repeats another's title to that one, is resolved, but counted.
    """
    with streamed(connection, "rows", batches, LINK_ROWS):
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
    """Batches of the columns of PAGES_SCHEMA by page."""
    return connection.sql(
        """
        SELECT page, doc_id, title, entity, sentences FROM pages LEFT JOIN entities USING (page) ORDER BY page
        """
    ).to_arrow_reader(batch)


def links_in_order(connection: DuckDBPyConnection, batch: int) -> Iterator[pa.RecordBatch]:
    """Batches of LINKS_SCHEMA, ascending; links that a sentence has several times come several times."""
    reader = connection.sql(
        "SELECT page, sentence, target FROM resolved WHERE target <> page ORDER BY page, sentence, target"
    ).to_arrow_reader(batch)
    for links in reader:
        yield links.cast(LINKS_SCHEMA)
