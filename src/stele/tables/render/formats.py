"""A table's cells as Markdown and LaTeX (HTML: pages.py, CSV: cells.py). Same cells, same bytes: no times, no hosts."""

from __future__ import annotations

from collections.abc import Sequence

from stele.papers.table import Table
from stele.tables.cells.cell import Cell, Results
from stele.tables.cells.context import Context
from stele.tables.cells.significance import Comparisons
from stele.tables.render import bibliography, latex, markdown, page_fit
from stele.tables.render.jinja import Ready, templates
from stele.tables.render.layout import VIEWS, Grid, View, build, own_views
from stele.tables.render.summary import summarise


def _grids(table: Table, cells: Sequence[Cell], tests: Comparisons) -> dict[View, Grid]:
    """View -> grid, for the views that show something of their own."""
    return {view: build(table, cells, view, tests) for view in own_views(table, cells)}


# --- Markdown ---------------------------------------------------------------------------------------------------------
def to_markdown(table: Table, cells: Sequence[Cell], context: Context, results: Results, tests: Comparisons) -> str:
    """The Markdown page of a table: side by side, then what is below, then ours and the paper's alone, folded."""
    grids = _grids(table, cells, tests)
    return markdown_page(
        "table",
        first=Ready(markdown.table(grids.get(context.view) or grids["side"])),
        summary=summarise(table, cells, context, results, tests, grids.values()),
        grids={view: Ready(markdown.table(grid)) for view, grid in grids.items()},
    )


def markdown_page(template: str, **values: object) -> str:
    """A Markdown template, filled, without spaces at the ends of lines."""
    environment = templates(markdown.escape)
    environment.filters["code"] = lambda text: Ready(markdown.code(text))
    page = environment.get_template(f"{template}.md.j2").render(**values)
    return "\n".join(line.rstrip() for line in page.splitlines()) + "\n"


# --- LaTeX ------------------------------------------------------------------------------------------------------------
def to_latex(table: Table, cells: Sequence[Cell], context: Context, results: Results, tests: Comparisons) -> str:
    r"""LaTeX floats that a document can `\input` alone; `\steleview` chooses the view."""
    grids = _grids(table, cells, tests)
    cited = bibliography.keys(table.about, {cell.reference.benchmark for cell in cells if cell.reference})
    return latex_page(
        "table",
        summary=summarise(table, cells, context, results, tests, grids.values()),
        views=[_latex_view(view, grids.get(view) or grids["side"]) for view in VIEWS],
        citations=Ready(",".join(cited)),
        first=context.view,
        grey=table.of_today,
        label=Ready(f"{table.paper}-{table.number:02d}".replace("_", "-")),
    )


def latex_page(template: str, **values: object) -> str:
    """A LaTeX template, filled."""
    environment = templates(latex.escape, latex_delimiters=True)
    environment.filters["path"] = lambda text: Ready(latex.path(text))
    return environment.get_template(f"{template}.tex.j2").render(**values)


def _latex_view(view: View, grid: Grid) -> dict[str, object]:
    setting = page_fit.fit(grid)
    return {"name": view, "parts": [Ready(latex.table(part)) for part in setting.parts], "turned": setting.turned}
