"""Count the cells of each paper by state, per paper and in all; works at any moment, also half-way.

python -m stele tables coverage
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from stele.files.formats import write_csv
from stele.papers.table import load_specs
from stele.tables.cells.cell import Cell, Results, counted, table_cells
from stele.tables.cells.context import load_context
from stele.tables.cells.states import STATES


def add_results_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that say of which tables, and from which folder of results."""
    parser.add_argument(
        "--specs", type=Path, nargs="+", default=[Path("paper_tables")], help="folders (default: paper_tables)"
    )
    parser.add_argument("--results-dir", type=Path, default=Path("results"), help="(default: %(default)s)")
    parser.add_argument("--context", type=Path, help="default: tables/context.json of the results, where it is there")


def all_cells(specs: Path, results_dir: Path, context: Path | None = None) -> Iterator[Cell]:
    """Every cell of every table, in printed order, as the results stand now."""
    written = results_dir / "tables/context.json"
    known, results = load_context(context or (written if written.is_file() else None)), Results(results_dir)
    for table in sorted(load_specs(specs), key=lambda table: (table.rank, table.number)):
        yield from table_cells(table, known, results)


def given_cells(args: argparse.Namespace) -> list[Cell]:
    """The cells that the arguments name, papers in their usual order."""
    cells = [cell for folder in args.specs for cell in all_cells(folder, args.results_dir, args.context)]
    return sorted(cells, key=lambda cell: cell.table.rank)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_results_arguments(parser)
    parser.add_argument("--format", choices=("text", "csv"), default="text", help="(default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    rows = coverage(given_cells(args))
    if args.format == "csv":
        write_csv(sys.stdout, rows)
        return
    widths = [max(len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
    for row in rows:
        first, *others = (str(cell).rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([first.strip().ljust(widths[0]), *others]))


def coverage(cells: list[Cell]) -> list[list[str | int]]:
    """A header, a row a paper, and a row for all: tables, cells, and the cells in each state that occurs.

    Rows that no paper prints, and words that are no cells (a list of acronyms), are left out.
    """
    own = counted(cells)
    states = [state for state in STATES if any(cell.outcome.state == state for cell in own)]
    rows: list[list[str | int]] = [["paper", "tables", "cells", *states]]
    papers = [paper for _, paper in sorted({cell.table.rank for cell in cells})]
    for name in [*papers, "all"]:
        tables = {cell.table.id for cell in cells if name in (cell.table.paper, "all")}
        count = Counter(cell.outcome.state for cell in own if name in (cell.table.paper, "all"))
        rows.append([name, len(tables), count.total(), *(count[state] for state in states)])
    return rows
