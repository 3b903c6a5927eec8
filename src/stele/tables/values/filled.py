"""`FilledTable`, a table with its cells and tests, which every format renders."""

from collections.abc import Sequence
from dataclasses import dataclass

from stele.papers.table import Table
from stele.tables.values.cell import Cell, table_cells
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results
from stele.tables.values.significance import Comparisons, compare_rows


@dataclass(frozen=True, eq=False)  # compared by identity, so that its views can be cached
class FilledTable:
    """A table with its cells from a folder of results, in printed order, and their tests."""

    table: Table
    cells: Sequence[Cell]
    context: Context
    results: Results
    tests: Comparisons


def fill(table: Table, context: Context, results: Results) -> FilledTable:
    """Looks up and tests all cells of a table."""
    cells = table_cells(table, context, results)
    return FilledTable(table, cells, context, results, compare_rows(cells, results))
