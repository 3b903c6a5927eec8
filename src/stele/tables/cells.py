"""Count, list, draw or compare the cells of all tables, filled from a folder of results that may be incomplete.

    stele tables cells                                # how many cells of each paper are in which state
    stele tables cells --format csv > cells.csv       # every cell
    stele tables cells --map cells.svg                # every cell as a square in the colour of its state
    stele tables cells --against ../colleague/results # the cells that differ between two folders

In the list `column` is the column that a number belongs to, as in all formats, and `printed_under` the one where the
paper prints it if it exchanged two; numbers are unrounded. Where `measured` reads `fail` (a pretraining that diverged),
`reason` has the number.

A comparison lists the cells whose values differ, and those that only one folder has. Where both folders have values per
query, the table's own test gives p. The exit code is 1 if any cell differs.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import model_validator

from stele.command.arguments import FigureFile, Job, ResultsFolder, Some
from stele.errors import SteleError
from stele.evaluation.significance import load_test
from stele.files.figures import save_figure
from stele.files.formats import table, write_csv
from stele.papers.table import load_specs
from stele.tables.render.figure_panels import ON_PAPER, WIDTH
from stele.tables.render.formats import COLUMNS, cell_row
from stele.tables.values.cell import Cell, count_text, counted, table_cells
from stele.tables.values.context import context_of
from stele.tables.values.lookup import STATES, Outcome, Results
from stele.tables.values.significance import p_value, values_per_query

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch

Rows: TypeAlias = list[list[str | int]]  # the header first
Difference: TypeAlias = tuple[Cell, Cell, float | None]  # a cell in two folders; p, None if it could not be tested
DIFFERENCE = ("table", "cell", "value in A", "value in B", "B - A", "p", "state in A", "state in B")
SQUARE = 0.055  # inches


class Cells(Job):
    specs: Some[Path] = (Path("paper_tables"),)
    """Folders of the papers' tables."""
    results_dir: ResultsFolder = Path("results")
    context: Path | None = None
    """Context that a run wrote (JSON); default: tables/context.json of the results, if it exists."""
    format: Literal["counts", "csv"] = "counts"
    """Number of cells in each state, or a table of all cells."""
    map: Some[FigureFile] | None = None
    """Files to draw a map of all cells into, coloured by state: .svg, .pdf or .png."""
    against: Path | None = None
    """Another folder of results: list the cells in which the two folders differ."""

    @model_validator(mode="after")
    def _check(self) -> Cells:
        if self.map and (self.against or self.format == "csv"):
            other = "--against" if self.against else "--format csv"
            raise ValueError(f"--map, {other}: leave one of them out")
        return self


def run(args: Cells) -> None:
    if args.against:
        compare(args)
        return
    cells = all_cells(args.specs, args.results_dir, args.context)
    if args.map:
        figure = draw_map(cells)
        for path in args.map:
            save_figure(figure, path, "All cells by state", map_in_words(cells), **ON_PAPER)
    elif args.format == "csv":
        results = Results(args.results_dir)
        write_csv(sys.stdout, [COLUMNS, *(cell_row(cell, results) for cell in cells if cell.table.counted)])
    else:
        header, *rows = ([str(entry) for entry in row] for row in count_states(cells))
        print(table(header, rows))


def all_cells(specs: Sequence[Path], results_dir: Path, context: Path | None = None) -> list[Cell]:
    """Looks up every cell of every table in the folders `specs`, papers in their usual order.

    Without a `context` it uses the one that a run wrote into the folder of results.
    """
    known = context_of(results_dir, context)
    results = Results(results_dir)
    given = [table for folder in specs for table in load_specs(folder)]  # a folder may be within another
    tables = [table for place, table in enumerate(given) if table not in given[:place]]
    tables.sort(key=lambda table: (table.rank, table.number))
    return [cell for table in tables for cell in table_cells(table, known, results)]


def count_states(cells: Sequence[Cell]) -> Rows:
    """Counts tables, cells, and cells in each state that occurs: a header, a row for each paper and a row for all.

    Rows of added models and lists that explain words are not counted.
    """
    cells_counted = counted(cells)
    states = [state for state in STATES if any(cell.outcome.state == state for cell in cells_counted)]
    rows: Rows = [["paper", "tables", "cells", *states]]
    papers = [paper for _, paper in sorted({cell.table.rank for cell in cells})]
    for name in [*papers, "all"]:
        tables = {cell.table.id for cell in cells if name in (cell.table.paper, "all")}
        count = Counter(cell.outcome.state for cell in cells_counted if name in (cell.table.paper, "all"))
        rows.append([name, len(tables), count.total(), *(count[state] for state in states)])
    return rows


# --- the map ----------------------------------------------------------------------------------------------------------
def map_in_words(cells: Sequence[Cell]) -> str:
    """Describes the map: the number of each paper's cells in each state."""
    texts = ["Every cell of every table as a square, coloured by its state."]
    names = {cell.table.paper: cell.table.about.name for cell in cells}
    header, *rows = count_states(cells)
    for name, _, count, *counts in rows:
        states = ", ".join(f"{n} {state}" for state, n in zip(header[3:], counts, strict=True) if n)
        texts.append(f"{names.get(str(name), 'In all')}: {count} cells: {states}.")
    return " ".join(texts)


def draw_map(cells: Sequence[Cell]) -> Figure:
    """Draws a row of blocks for each paper, with a block for each table and a square for each cell, as printed."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    texts, squares, height = _places(counted(cells))
    figure = Figure(figsize=(WIDTH, height * SQUARE + 0.6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH / SQUARE), ylim=(height + 0.6 / SQUARE, 0), aspect="equal")
    axes.set_axis_off()
    for text, x, y, size in texts:
        axes.text(x, y, text, fontsize=size, va="bottom", ha="left", parse_math=False)
    handles = []
    for name, state in STATES.items():
        corners = [(x, y) for cell_state, x, y in squares if cell_state == name]
        if corners:
            axes.add_patch(_squares(corners, state.colour))
            label = f"{name} ({len(corners)})"
            handles.append(Patch(facecolor=state.colour, edgecolor="#888888", linewidth=0.4, label=label))
    axes.legend(handles=handles, loc="lower left", ncols=4, fontsize=7, frameon=False, handlelength=1, borderaxespad=0)
    return figure


def _squares(corners: list[tuple[float, float]], colour: str) -> PathPatch:
    """Joins squares of one colour into one path, which takes a tenth of the bytes of separate paths."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    side = 0.86
    corner = [(0, 0), (side, 0), (side, side), (0, side), (0, 0)]
    codes = [Outline.MOVETO, *[Outline.LINETO] * 3, Outline.CLOSEPOLY]
    points = [(x + dx, y + dy) for x, y in corners for dx, dy in corner]
    return PathPatch(Outline(points, codes * len(corners)), facecolor=colour, edgecolor="#888888", linewidth=0.25)


def _places(cells: Sequence[Cell]) -> tuple[list, list, float]:
    """Lays out the map: texts (text, x, y, size), squares (state, x, y), and its height, in units of a square."""
    texts, squares, y = [], [], 0.0
    for paper, of_paper in groupby(cells, key=lambda cell: cell.table.about.name):
        y += 3
        texts.append((paper, 0, y, 9))
        x, deepest, y = 0.0, 0.0, y + 3
        for name, of_table in groupby(of_paper, key=lambda cell: cell.table.id):
            of_table = list(of_table)
            columns = len(of_table[0].table.columns)
            width, depth = max(columns, 5), -(-len(of_table) // columns)
            if x + width > WIDTH / SQUARE:
                x, y, deepest = 0.0, y + deepest + 4, 0.0
            texts.append((name.partition("/")[2], x, y - 0.4, 6))
            for place, cell in enumerate(of_table):
                squares.append((cell.outcome.state, x + place % columns, y + place // columns))
            x, deepest = x + width + 1.5, max(deepest, depth)
        y += deepest + 1
    return texts, squares, y


# --- two folders ------------------------------------------------------------------------------------------------------
def compare(args: Cells) -> None:
    """Prints the cells that differ between two folders (SteleError if one is missing); exits with 1 if any does."""
    folders = (args.results_dir, args.against)
    for folder in folders:
        if not folder.is_dir():
            raise SteleError(f"{folder}: no such folder of results; build some first")
    pairs = pair_cells(*(all_cells(args.specs, folder, args.context) for folder in folders))
    rows = [_row(*difference) for difference in differences(pairs, *map(Results, folders))]
    if args.format == "csv":
        write_csv(sys.stdout, [DIFFERENCE, *rows])
    else:
        for row in rows:
            print("  ".join(filter(None, row)))
        both = sum(a.measured and b.measured for a, b in pairs)
        print(f"{count_text([a for a, _ in pairs])}, {both} measured in both, {len(rows)} differ")
    if rows:
        sys.exit(1)


def pair_cells(a: Sequence[Cell], b: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """Pairs the cells of two folders by address. A row that only one of them has counts as not run in the other."""
    in_a, in_b = ({(cell.table.id, cell.address): cell for cell in cells} for cells in (a, b))
    missing = Outcome("not run", "no such row there")
    pairs = []
    for place in dict.fromkeys([*in_a, *in_b]):
        either = in_a.get(place) or in_b[place]
        absent = replace(either, outcome=missing)
        pairs.append((in_a.get(place, absent), in_b.get(place, absent)))
    return pairs


def differences(pairs: Sequence[tuple[Cell, Cell]], results_a: Results, results_b: Results) -> Iterator[Difference]:
    """Yields the cells that are measured in one folder only, or in both with different values."""
    for a, b in pairs:
        if a.measured and b.measured:
            if a.outcome.value != b.outcome.value or a.outcome.languages != b.outcome.languages:
                yield a, b, _p(a, b, results_a, results_b)
        elif a.measured or b.measured:
            yield a, b, None


def _row(a: Cell, b: Cell, p: float | None) -> list[str]:
    """Fields of a difference, in the order of `DIFFERENCE`."""
    values = [cell.outcome.value for cell in (a, b)]
    shown = ["" if value is None else repr(value) for value in values]
    change = "" if None in values else f"{values[1] - values[0]:+.6f}"
    tested = "" if p is None else f"{p:.6f}"
    return [a.table.id, a.address, *shown, change, tested, a.outcome.state, b.outcome.state]


def _p(a: Cell, b: Cell, results_a: Results, results_b: Results) -> float | None:
    """p-value of B against A by the table's test, over their common languages; None if it cannot be tested."""
    metric, languages = a.reference.metric, set(a.outcome.languages) & set(b.outcome.languages)
    if not languages:
        return None
    try:
        baseline = values_per_query(results_a, a, languages, metric)
        system = values_per_query(results_b, b, languages, metric)
        return p_value(load_test(a.table.significance.test), system, baseline, metric)
    except SteleError:
        return None
