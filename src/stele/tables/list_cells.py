"""List every cell of every table: printed, measured, difference, state and why, labels, and the command that builds it.

    stele tables list_cells --format csv > cells.csv

Works at any moment, also half-way through a run. `column` is the column that a number belongs to, as in all formats,
and `printed_under` the one where the paper prints it, where it exchanged two; numbers are unrounded. Where `measured`
reads `fail` (a pretraining that diverged), `reason` has the number.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from stele.files.formats import write_csv
from stele.papers.table import Table
from stele.papers.table_parts import Column
from stele.tables.cells import numbers
from stele.tables.cells.cell import Cell, Results
from stele.tables.cells.context import Context
from stele.tables.cells.significance import Comparisons
from stele.tables.coverage import add_results_arguments, given_cells
from stele.tables.render.layout import FAIL, delta_of
from stele.tables.render.published import difference_in
from stele.tables.render.summary import command, target

COLUMNS = (
    "paper", "table", "row", "column", "language", "printed_under", "printed", "measured", "difference", "state",
    "reason", "labels", "target", "command",
)  # fmt: skip
SOURCE_COLUMNS = ("verdict", "why", "notes", "tolerance", "source", "locator", "revision", "status", "note", "seen")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_results_arguments(parser)
    parser.add_argument("--format", choices=("csv", "json"), default="csv", help="(default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    results = Results(args.results_dir)
    listed = [cell for cell in given_cells(args) if cell.table.counted]
    if args.format == "csv":
        sys.stdout.write(as_csv(listed, results))
    else:
        json.dump([dict(zip(COLUMNS, row(cell, results), strict=True)) for cell in listed], sys.stdout, indent=1)
        sys.stdout.write("\n")


def to_csv(table: Table, cells: Sequence[Cell], context: Context, results: Results, tests: Comparisons) -> str:
    """The cells of one table as CSV, a format like the others."""
    return as_csv_of_today(cells, results) if table.of_today else as_csv(cells, results)


def as_csv(cells: Iterable[Cell], results: Results) -> str:
    """A header and one line a cell."""
    return _csv(COLUMNS, (row(cell, results) for cell in cells))


def as_csv_of_today(cells: Iterable[Cell], results: Results) -> str:
    """A header and one line a published number of a cell, or one line where nothing is published."""
    header = [{"printed": "published"}.get(name, name) for name in COLUMNS if name != "printed_under"]
    return _csv([*header, *SOURCE_COLUMNS], (line for cell in cells for line in _sources(cell, results)))


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    write_csv(out, [header, *rows])
    return out.getvalue()


def _sources(cell: Cell, results: Results) -> Iterator[list[str]]:
    """The lines of a cell of today's encoders; the source that the table shows is the first."""
    own, seen = dict(zip(COLUMNS, row(cell, results), strict=True)), ", ".join(cell.seen)
    del own["printed_under"]
    for one in cell.published:
        score, judged = one.published, one.ours is not None and one.state != "not comparable"
        own["printed"] = numbers.plain(numbers.scaled(score.value, cell.report))
        own["difference"] = numbers.plain(difference_in(one, cell.report)) if judged else ""
        source = [score.source, score.locator, score.model_revision, score.status, score.note]
        yield [*own.values(), one.state, one.why, "; ".join(one.notes), f"{score.tolerance:g}", *source, seen]
    if not cell.published:
        yield [*own.values(), *[""] * (len(SOURCE_COLUMNS) - 1), seen]


def row(cell: Cell, results: Results) -> list[str]:
    """One cell, in the order of `COLUMNS`."""
    labels = list(cell.outcome.labels)
    language = ""
    if cell.reference:
        language = "average" if cell.reference.average else cell.reference.languages[0]
    if cell.measured and not cell.complete:
        labels.append(f"average of {len(cell.outcome.languages)} of {len(cell.reference.languages)} languages")
    delta, path, measured = delta_of(cell), target(cell, results), _measured(cell)
    failed = bool(measured) and not cell.shows_number
    return [
        cell.table.paper,
        str(cell.table.number),
        " / ".join(filter(None, (cell.group.label, cell.row.label, cell.line.label))),
        _header(cell.column),
        language,
        "" if cell.printed_under == cell.column else _header(cell.printed_under),
        _printed(cell),
        FAIL if failed else measured,
        numbers.plain(delta) if delta is not None else "",
        cell.outcome.state,
        f"{cell.outcome.reason}; our number: {measured}" if failed else cell.outcome.reason,
        "; ".join(labels),
        path,
        command(results, [Path(path)]) if path else "",
    ]


def _header(column: Column) -> str:
    return " ".join(filter(None, (column.group, column.header)))


def _measured(cell: Cell) -> str:
    return "" if cell.outcome.value is None else numbers.plain(numbers.scaled(cell.outcome.value, cell.report))


def _printed(cell: Cell) -> str:
    value = cell.printed.value if cell.printed else None
    if cell.printed and value is None:
        return "-"
    return value or "" if not isinstance(value, float) else numbers.printed(value, cell.report)
