"""Queries by number, so that kept values need not repeat long ids: a file a setting says which query a number is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.reading import reading


def numbered(path: Path, searches: Sequence[str], queries: Sequence[str]) -> list[str]:
    """The number of each query within its search, as text, by the file at `path`, to which new searches are added.

    Numbers follow the order of the ids, so that they do not depend on which result came first. Raises SteleError where
    a search that the file has was of other queries.
    """
    there = _read(path)
    found: dict[str, set[str]] = {}
    for search, query in zip(searches, queries, strict=True):
        found.setdefault(search, set()).add(query)
    known = {search: sorted(of_search) for search, of_search in found.items()}
    for search in known.keys() & there.keys():
        if known[search] != there[search]:
            raise SteleError(f"{path}: the search {search} was of other queries; keep these results in another folder")
    if known.keys() - there.keys():
        _write(path, there | known)
    number = {(search, query): str(n) for search, ids in known.items() for n, query in enumerate(ids)}
    return [number[key] for key in zip(searches, queries, strict=True)]


def _read(path: Path) -> dict[str, list[str]]:
    """Search -> its queries, in the order of their numbers."""
    import pyarrow.parquet

    searches: dict[str, list[str]] = {}
    if path.is_file():
        with reading(path, "list of queries", "pack again into a new folder"):
            table = pyarrow.parquet.read_table(path)
            for search, query in zip(table["search"].to_pylist(), table["query"].to_pylist(), strict=True):
                searches.setdefault(search, []).append(query)
    return searches


def _write(path: Path, searches: dict[str, list[str]]) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = [(search, query) for search in sorted(searches) for query in searches[search]]
    table = pyarrow.table({"search": [search for search, _ in rows], "query": [query for _, query in rows]})
    with atomic_file(path, mode="wb") as handle:
        pyarrow.parquet.write_table(table, handle, compression="zstd", compression_level=19)
