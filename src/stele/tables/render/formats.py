"""Rendering of a table as Markdown, LaTeX and CSV (HTML: pages.py), without times and hosts: same cells, same bytes."""

import io
from collections.abc import Iterator

from stele.files.formats import write_csv
from stele.papers.table_parts import Column
from stele.tables.render import bibliography, latex, markdown, page_fit
from stele.tables.render.cell_details import command, files_of
from stele.tables.render.jinja import Ready, templates
from stele.tables.render.layout import FAIL, VIEWS, Grid, View, delta_of, grids_of
from stele.tables.render.summary import summarise
from stele.tables.values import numbers
from stele.tables.values.cell import Cell
from stele.tables.values.lookup import Results
from stele.tables.values.significance import FilledTable

COLUMNS = (
    "paper", "table", "row", "column", "language", "printed_under", "printed", "measured", "difference", "state",
    "reason", "labels", "target", "command",
)  # fmt: skip
SOURCE_COLUMNS = ("verdict", "why", "notes", "tolerance", "source", "locator", "revision", "status", "note", "seen")


# --- Markdown ---------------------------------------------------------------------------------------------------------
def to_markdown(filled: FilledTable) -> str:
    """Markdown page of a table: both numbers side by side, the text below, then ours and the paper's alone, folded."""
    grids = grids_of(filled)
    return markdown_page(
        "table",
        first=Ready(markdown.table(grids.get(filled.context.view) or grids["side"])),
        summary=summarise(filled, grids.values()),
        grids={view: Ready(markdown.table(grid)) for view, grid in grids.items()},
    )


def markdown_page(template: str, **values: object) -> str:
    """Fills a Markdown template; removes spaces at the ends of lines."""
    environment = templates(markdown.line)
    environment.filters["code"] = lambda text: Ready(markdown.code(text))
    page = environment.get_template(f"{template}.md.j2").render(**values)
    return "\n".join(line.rstrip() for line in page.splitlines()) + "\n"


# --- LaTeX ------------------------------------------------------------------------------------------------------------
def to_latex(filled: FilledTable) -> str:
    r"""LaTeX floats that a document can `\input` alone; `\steleview` chooses the view."""
    grids, table = grids_of(filled), filled.table
    cited = bibliography.keys(table.about, {cell.reference.benchmark for cell in filled.cells if cell.reference})
    return latex_page(
        "table",
        summary=summarise(filled, grids.values()),
        views=[_latex_view(view, grids.get(view) or grids["side"]) for view in VIEWS],
        citations=Ready(",".join(cited)),
        first=filled.context.view,
        grey=table.of_today,
        label=Ready(f"{table.paper}-{table.number:02d}".replace("_", "-")),
    )


def latex_page(template: str, **values: object) -> str:
    """Fills a LaTeX template."""
    environment = templates(latex.escape, latex_delimiters=True)
    environment.filters["path"] = lambda text: Ready(latex.path(text))
    environment.filters["heading"] = lambda text, grid: Ready(latex.heading(text, grid))
    environment.filters["label"] = lambda content, box, below: Ready(latex.label(content, box, below))
    environment.filters["outlined"] = lambda text: Ready(latex.outlined(text))
    return environment.get_template(f"{template}.tex.j2").render(**values)


def _latex_view(view: View, grid: Grid) -> dict[str, object]:
    parts, turned = page_fit.fit(grid)
    return {"name": view, "parts": [Ready(latex_page("grid", grid=part)) for part in parts], "turned": turned}


# --- CSV --------------------------------------------------------------------------------------------------------------
def to_csv(filled: FilledTable) -> str:
    """CSV of a table: one line per cell, or, for today's encoders, one per published number of a cell."""
    cells, results = filled.cells, filled.results
    if filled.table.of_today:
        header = [{"printed": "published"}.get(name, name) for name in COLUMNS if name != "printed_under"]
        lines = [[*header, *SOURCE_COLUMNS]]
        for cell in cells:
            lines += _published_rows(cell, results)
    else:
        lines = [[*COLUMNS], *(cell_row(cell, results) for cell in cells)]
    out = io.StringIO()
    write_csv(out, lines)
    return out.getvalue()


def _published_rows(cell: Cell, results: Results) -> Iterator[list[str]]:
    """Yields the lines of a cell of today's encoders, first the published number that the table shows."""
    values, seen = dict(zip(COLUMNS, cell_row(cell, results), strict=True)), ", ".join(cell.seen)
    del values["printed_under"]
    for verdict in cell.published:
        score, judged = verdict.published, verdict.ours is not None and verdict.state != "not comparable"
        values["printed"] = numbers.plain(numbers.scaled(score.value, cell.report))
        values["difference"] = ""
        if judged:
            difference = numbers.scaled(verdict.ours, cell.report) - numbers.scaled(score.value, cell.report)
            values["difference"] = numbers.plain(difference)
        judgement = [verdict.state, verdict.why, "; ".join(verdict.notes), f"{score.tolerance:g}"]
        source = [score.source, score.locator, score.model_revision, score.status, score.note]
        yield [*values.values(), *judgement, *source, seen]
    if not cell.published:
        yield [*values.values(), *[""] * (len(SOURCE_COLUMNS) - 1), seen]


def cell_row(cell: Cell, results: Results) -> list[str]:
    """Fields of one cell, in the order of `COLUMNS`."""
    labels = list(cell.outcome.labels)
    language = ""
    if cell.reference:
        language = "average" if cell.reference.average else cell.reference.languages[0]
    if cell.measured and not cell.complete:
        labels.append(f"average of {len(cell.outcome.languages)} of {len(cell.reference.languages)} languages")
    delta, paths, measured = delta_of(cell), files_of(cell, results), ""
    if cell.outcome.value is not None:
        measured = numbers.plain(numbers.scaled(cell.outcome.value, cell.report))
    failed = bool(measured) and not cell.shows_number
    return [
        cell.table.paper,
        str(cell.table.number),
        " / ".join(filter(None, (cell.group.label, cell.row.label, cell.line.label))),
        _header(cell.column),
        language,
        "" if cell.printed_under == cell.column else _header(cell.printed_under),
        cell.printed_text,
        FAIL if failed else measured,
        numbers.plain(delta) if delta is not None else "",
        cell.outcome.state,
        f"{cell.outcome.reason}; our number: {measured}" if failed else cell.outcome.reason,
        "; ".join(labels),
        " ".join(map(str, paths)),
        command(results, paths) if paths else "",
    ]


def _header(column: Column) -> str:
    return " ".join(filter(None, (column.group, column.header)))
