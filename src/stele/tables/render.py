"""A table's cells as Markdown, LaTeX and CSV. Same cells, same bytes: no times and no hosts in them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from functools import cache

from stele.tables import latex, markdown, numbers
from stele.tables.cells import Cell, Results
from stele.tables.context import Context
from stele.tables.layout import VIEWS, build, delta_of
from stele.tables.spec import Table
from stele.tables.summary import summarise, target

CSV_COLUMNS = (
    "paper", "table", "row", "column", "language", "printed", "measured", "difference", "state", "labels", "target",
    "command",
)  # fmt: skip


class Ready(str):
    """Text that is already in the output's language and is not escaped again."""


@cache
def _templates(escape: Callable[[str], str], latex_delimiters: bool):
    """A Jinja environment that escapes whatever a template prints, unless it is `Ready`."""
    import jinja2

    def finalize(value: object) -> str:
        return value if isinstance(value, Ready) else escape(str(value))

    delimiters = {
        "block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "<<",
        "variable_end_string": ">>", "comment_start_string": "<#", "comment_end_string": "#>",
    }  # fmt: skip
    return jinja2.Environment(
        loader=jinja2.PackageLoader("stele.tables", "templates"),
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(delimiters if latex_delimiters else {}),
    )


def _grids(table: Table, cells: Sequence[Cell], draw: Callable[..., str]) -> dict[str, Ready | None]:
    """View -> drawn grid; a stated table has one view only, and ours needs something measured."""
    shown = {"side": True, "ours": any(cell.measured for cell in cells), "paper": table.kind == "result"}
    return {view: Ready(draw(build(table, cells, view))) if shown[view] else None for view in VIEWS}


def to_markdown(table: Table, cells: Sequence[Cell], context: Context, results: Results) -> str:
    """The Markdown page of a table: side by side, then what is below, then ours and the paper's alone, folded."""
    environment = _templates(markdown.escape, False)
    environment.filters["code"] = lambda text: Ready(markdown.code(text))
    page = environment.get_template("table.md.j2").render(
        summary=summarise(table, cells, context, results), grids=_grids(table, cells, markdown.table)
    )
    return "\n".join(line.rstrip() for line in page.splitlines()) + "\n"


def to_latex(table: Table, cells: Sequence[Cell], context: Context, results: Results) -> str:
    r"""A LaTeX float that a document can `\input` alone; `\steleview` chooses the view."""
    environment = _templates(latex.escape, True)
    environment.filters["path"] = lambda text: Ready(latex.path(text))
    grids = _grids(table, cells, latex.table)
    return environment.get_template("table.tex.j2").render(
        summary=summarise(table, cells, context, results),
        grids={view: grid or grids["side"] for view, grid in grids.items()},
        label=Ready(f"{table.paper}-{table.number:02d}".replace("_", "-")),
    )


def to_csv(table: Table, cells: Sequence[Cell], context: Context, results: Results) -> str:
    """One line a cell. `column` is where the paper prints it, `language` what it is about; numbers are unrounded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    writer.writerows(_csv_row(cell, results) for cell in cells)
    return out.getvalue()


def _csv_row(cell: Cell, results: Results) -> list[str]:
    labels = list(cell.found.labels)
    language = ""
    if cell.ask:
        language = "average" if cell.ask.average else cell.ask.languages[0]
    if cell.measured and not cell.complete:
        labels.append(f"average of {len(cell.found.languages)} of {len(cell.ask.languages)} languages")
    delta, path = delta_of(cell), target(cell, results)
    return [
        cell.table.paper,
        str(cell.table.number),
        " / ".join(filter(None, (cell.group.label, cell.row.label, cell.line.label))),
        " ".join(filter(None, (cell.column.group, cell.column.header))),
        language,
        _printed(cell),
        numbers.plain(numbers.scaled(cell.found.value, cell.report)) if cell.found.value is not None else "",
        numbers.plain(delta) if delta is not None else "",
        cell.found.state,
        "; ".join(labels),
        path,
        f"snakemake {path}" if path else "",
    ]


def _printed(cell: Cell) -> str:
    value = cell.printed.value if cell.printed else None
    if cell.printed and value is None:
        return "-"
    return value or "" if not isinstance(value, float) else numbers.printed(value, cell.report)
