"""Draw every cell of every table as a square, coloured by its state: what is there and what is not, at one look.

python -m stele tables cell_map --output cells.svg cells.pdf
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from stele.errors import SteleError
from stele.files.formats import save_figure
from stele.tables.cells.cell import Cell, counted
from stele.tables.cells.states import STATES
from stele.tables.coverage import add_results_arguments, coverage, given_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.patches import PathPatch

ON_PAPER = {"bbox_inches": "tight", "dpi": 200}  # how pictures of tables' pages are saved
# Okabe and Ito's colours, told apart by the colour-blind and in grey; what is missing is pale
COLOURS = {
    "measured": "#0072B2",
    "borrowed": "#56B4E9",
    "stated": "#999999",
    "not run": "#F0E442",
    "not in scale": "#DDDDDD",
    "not built": "#FFFFFF",
    "failed": "#D55E00",
    "unavailable": "#E8C9DA",
    "unreadable": "#000000",
}
FORMATS = ("svg", "pdf", "png")
SQUARE = 0.055  # inches
WIDTH = 7.0  # inches: a page of text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_results_arguments(parser)
    add_output_argument(parser)


def run(args: argparse.Namespace) -> None:
    outputs, cells = checked(args.output), given_cells(args)
    figure = draw(cells)
    for path in outputs:
        save_figure(figure, path, "All cells by state", described(cells), **ON_PAPER)


def add_output_argument(parser: argparse.ArgumentParser) -> None:
    names = " or ".join(f".{name}" for name in FORMATS)
    parser.add_argument("--output", type=Path, nargs="+", required=True, metavar="FILE", help=names)


def checked(outputs: Sequence[Path]) -> Sequence[Path]:
    """The files to write; a name that is of no format of ours is an error."""
    for path in outputs:
        if path.suffix[1:] not in FORMATS:
            raise SteleError(f"--output {path}: want a name that ends in .{', .'.join(FORMATS)}")
    return outputs


def described(cells: Sequence[Cell]) -> str:
    """The map in words: how many cells of each paper are in which state."""
    texts, names = [], {cell.table.paper: cell.table.about.name for cell in cells}
    for name, _, count, *counts in (rows := coverage(list(cells)))[1:]:
        states = ", ".join(f"{n} {state}" for state, n in zip(rows[0][3:], counts, strict=True) if n)
        texts.append(f"{names.get(str(name), 'In all')}: {count} cells: {states}.")
    return " ".join(["Every cell of every table as a square, coloured by its state.", *texts])


def draw(cells: Sequence[Cell]) -> Figure:
    """The map: a row of blocks a paper, a block a table, in the block a square a cell, lines and columns as printed."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    places, height = _places(counted(cells))
    figure = Figure(figsize=(WIDTH, height * SQUARE + 0.6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH / SQUARE), ylim=(height + 0.6 / SQUARE, 0), aspect="equal")
    axes.set_axis_off()
    for text, x, y, size in places["texts"]:
        axes.text(x, y, text, fontsize=size, va="bottom", ha="left")
    for state in STATES:
        squares = [(x, y) for cell_state, x, y in places["squares"] if cell_state == state]
        if squares:
            axes.add_patch(_squares(squares, COLOURS[state]))
    there = [state for state in STATES if any(cell_state == state for cell_state, _, _ in places["squares"])]
    count = {state: sum(cell_state == state for cell_state, _, _ in places["squares"]) for state in there}
    patches = [
        Patch(facecolor=COLOURS[s], edgecolor="#888888", linewidth=0.4, label=f"{s} ({count[s]})") for s in there
    ]
    axes.legend(handles=patches, loc="lower left", ncols=4, fontsize=7, frameon=False, handlelength=1, borderaxespad=0)
    return figure


def _squares(corners: list[tuple[float, float]], colour: str) -> PathPatch:
    """Squares of one colour as one path: a tenth of the bytes of a path each."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    side = 0.86
    corner = [(0, 0), (side, 0), (side, side), (0, side), (0, 0)]
    codes = [Outline.MOVETO, *[Outline.LINETO] * 3, Outline.CLOSEPOLY]
    points = [(x + dx, y + dy) for x, y in corners for dx, dy in corner]
    return PathPatch(Outline(points, codes * len(corners)), facecolor=colour, edgecolor="#888888", linewidth=0.25)


def _places(cells: Sequence[Cell]) -> tuple[dict[str, list], float]:
    """Texts (text, x, y, size) and squares (state, x, y) in units of a square, and the height of it all."""
    texts, squares, y = [], [], 0.0
    for paper, of_paper in groupby(cells, key=lambda cell: cell.table.about.name):
        y += 3
        texts.append((paper, 0, y, 9))
        x, deepest, y = 0.0, 0.0, y + 3
        for table, of_table in groupby(of_paper, key=lambda cell: cell.table.id):
            of_table = list(of_table)
            columns = len(of_table[0].table.columns)
            width, depth = max(columns, 5), -(-len(of_table) // columns)
            if x + width > WIDTH / SQUARE:
                x, y, deepest = 0.0, y + deepest + 4, 0.0
            texts.append((table.partition("/")[2], x, y - 0.4, 6))
            squares += [(c.outcome.state, x + i % columns, y + i // columns) for i, c in enumerate(of_table)]
            x, deepest = x + width + 1.5, max(deepest, depth)
        y += deepest + 1
    return {"texts": texts, "squares": squares}, y
