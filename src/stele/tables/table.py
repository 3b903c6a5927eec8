"""Render one table: ours, the paper's, the difference and the state of every cell, as Markdown, LaTeX and CSV.

It works at any moment, also before or half-way through a run: what has no result yet shows its state.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from pathlib import Path

from stele.errors import SteleError
from stele.outputs import atomic_file
from stele.tables import render
from stele.tables.cells import Results, table_cells
from stele.tables.context import load_context
from stele.tables.spec import load_spec

log = logging.getLogger(__name__)
FORMATS = {"md": render.to_markdown, "tex": render.to_latex, "csv": render.to_csv}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spec", type=Path, required=True, help="paper_tables/{paper}/table_NN.yaml")
    parser.add_argument("--context", type=Path, help="JSON: scale, rows that cannot be built, added rows")
    parser.add_argument("--results-dir", type=Path, default=Path("results"), help="default: results")
    for suffix in FORMATS:
        parser.add_argument(f"--output-{suffix}", type=Path, help=f"where to write the table as .{suffix}")


def run(args: argparse.Namespace) -> None:
    outputs = {suffix: path for suffix in FORMATS if (path := getattr(args, f"output_{suffix}"))}
    if not outputs:
        raise SteleError("give at least one of --output-md, --output-tex, --output-csv")
    table, context, results = load_spec(args.spec), load_context(args.context), Results(args.results_dir)
    cells = table_cells(table, context, results)
    for suffix, path in outputs.items():
        with atomic_file(path) as handle:
            handle.write(FORMATS[suffix](table, cells, context, results))
    states = Counter(cell.found.state for cell in cells)
    log.info("%s: %d cells: %s", table.file, len(cells), ", ".join(f"{n} {state}" for state, n in states.items()))
    for problem in sorted({cell.found.reason for cell in cells if cell.found.state == "unreadable"}):
        log.warning("%s", problem)
