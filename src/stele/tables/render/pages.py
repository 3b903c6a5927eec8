"""Tables as self-contained HTML pages: one table, all tables of a paper, and the list of all.

A page's policy allows only its own style and script, by their hashes, and the files of boxes that this script loads, so
it runs nothing foreign whatever a label holds. A cell unfolds to its own box, and from there to the records of its
result. The boxes are on the page, or on a site in files that the page loads when one is opened.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from stele.artifacts.records import Record
from stele.artifacts.results import RunKey
from stele.papers.paper import Paper
from stele.papers.table import Table
from stele.tables.render import bibliography, html
from stele.tables.render.cell_details import Provenance, Unfolded, provenance, unfold
from stele.tables.render.claims import PaperClaims
from stele.tables.render.jinja import OF_PAPER, Ready, Words, templates, words_of
from stele.tables.render.layout import Grid, View, grids_of
from stele.tables.render.pictures import Picture
from stele.tables.render.summary import Summary, summarise
from stele.tables.render.terms import explained
from stele.tables.values.lookup import STATES
from stele.tables.values.significance import FilledTable

if TYPE_CHECKING:
    import jinja2

CHOICES: dict[View, str] = {"side": "side", "difference": "difference", "ours": "ours", "paper": "printed"}


@dataclass(frozen=True)
class Link:
    """A text and its target."""

    text: str
    href: str


@dataclass(frozen=True)
class Drawn:
    """A table with its summary, views, cells and records, ready for a page.

    `views` maps each choice of `CHOICES` that shows a grid to the drawn grid; `view` is the choice shown first.
    """

    table: Table
    summary: Summary
    views: dict[str, Ready]
    view: View
    cells: list[Unfolded]
    records: list[Provenance]

    @property
    def id(self) -> str:
        return f"t{self.table.number:02d}"

    @property
    def boxes(self) -> dict[tuple[str, str], Unfolded]:
        """Cells of the page by table (`table 5`) and address."""
        return {(f"table {self.table.number}", cell.address): cell for cell in self.cells}


class PaperPages(NamedTuple):
    """A paper with the tables and figures of its page."""

    key: str
    about: Paper
    tables: list[Drawn]
    figures: list[Picture]

    @property
    def citation(self) -> str:
        """Reference to the paper, as a line of text."""
        return bibliography.of_paper(self.about)


def by_paper(drawn: Iterable[Drawn], figures: Iterable[Picture] = ()) -> list[PaperPages]:
    """Groups tables by paper, in their order, with the figures of each paper."""
    papers, figures = [], list(figures)
    for key, of_paper in groupby(drawn, key=lambda table: table.table.paper):
        tables = list(of_paper)
        papers.append(PaperPages(key, tables[0].table.about, tables, [each for each in figures if each.paper == key]))
    return papers


def draw(filled: FilledTable, root: str) -> Drawn:
    """Draws a table for a page; `root` is the relative path from the page to the folder of results."""
    cells, grids = [unfold(filled, place, root) for place in range(len(filled.cells))], grids_of(filled)
    return Drawn(
        filled.table,
        summarise(filled, grids.values()),
        _views(grids, {cell.address: cell.id for cell in cells}),
        filled.context.view,
        cells,
        provenance(cells, filled.results),
    )


def _views(grids: Mapping[View, Grid], names: Mapping[str, str]) -> dict[str, Ready]:
    """Draws the views of a table; the view `side` also serves the choices whose view would show the same."""
    views: dict[View, str] = {view: CHOICES[view] for view in grids}
    views["side"] = " ".join([views["side"], *(choice for view, choice in CHOICES.items() if view not in views)])
    return {classes: draw_grid(grids[view], names) for view, classes in views.items()}


def draw_grid(grid: Grid, names: Mapping[str, str]) -> Ready:
    """HTML table of a grid; `names` has the id of each cell's box by address."""
    template = _environment().get_template("grid.html.j2")
    return Ready(template.render(grid=grid, names=names, widest=html.MARK_WIDTHS[-1]))


def _record_id(result: RunKey) -> str:
    return "-".join(("r", *result))


# --- pages ------------------------------------------------------------------------------------------------------------
def table_page(drawn: Drawn, index: str) -> str:
    """HTML page of one table; `index` is the path to the list of all tables."""
    return _tables_page([drawn], [], title=drawn.summary.title, index=index)  # the table has its own labels


def paper_page(
    paper: PaperPages,
    index: str,
    claims: PaperClaims | None = None,
    site: Sequence[Link] = (),
    labels: Sequence[str] = (),
    folder: str = "",
) -> str:
    """HTML page of all tables, figures and claims of a paper; in a site also with its `labels` and its links.

    folder: the folder of the files of its boxes (`box_files`); "" leaves the boxes on the page.
    """
    labels = labels or shared_labels([drawn.summary for drawn in paper.tables])
    title = f"{paper.about.name}: all tables"
    return _tables_page(paper.tables, labels, claims, folder, site=site, title=title, index=index, paper=paper)


def box_files(tables: Sequence[Drawn], claims: PaperClaims | None) -> Iterator[tuple[str, str]]:
    """Yields name and content of the files of a page's boxes: one per table, one of records, one of ancestors."""
    files: dict[str, dict[str, str]] = {}
    for name, text in _boxes(tables, claims):
        files.setdefault(name.partition("-")[0], {})[name] = text
    for first, boxes in files.items():
        yield f"{first}.js", f"stele_boxes({json.dumps(boxes, ensure_ascii=False, indent=0)});\n"


def _boxes(tables: Sequence[Drawn], claims: PaperClaims | None) -> Iterator[tuple[str, str]]:
    """Yields id and HTML of all boxes of a page: cells, the records of their results, the ancestors of those."""
    parts = _environment().get_template("table.html.j2").module
    readers = claims.readers if claims else {}
    for table in tables:
        known = {record.result for record in table.records}
        for cell in table.cells:
            record = _record_id(cell.result) if cell.result in known else ""
            yield cell.id, parts.cell_box(cell, record, readers.get(cell.id, []))
    read = [record for table in tables for record in table.records]
    records: dict[RunKey, Record] = {}
    for record in read:  # one table may show more seeds of a result than another
        records.setdefault(record.result, {}).update(record.records)
    ancestry = {digest: facts for record in read for digest, facts in record.ancestry.items()}
    known = frozenset(ancestry)
    for result, files in sorted(records.items()):
        name = _record_id(result)
        yield name, parts.record_box(name, " / ".join(result), dict(sorted(files.items())), known)
    for digest, facts in sorted(ancestry.items()):
        name = html.ancestor_id(digest)
        yield name, parts.ancestor_box(name, digest, facts, known)


def _tables_page(
    tables: Sequence[Drawn], labels: Sequence[str], claims: PaperClaims | None = None, folder: str = "", **said: Any
) -> str:
    return page(
        "tables",
        labels,
        tables=tables,
        view=tables[0].view,
        words=words_of(tables[0].table),
        claims=claims,
        boxes=[] if folder else [Ready(text) for _, text in _boxes(tables, claims)],
        folder=folder,
        **{"paper": None, **said},
    )


def index_page(
    papers: Sequence[PaperPages],
    figures: Sequence[Picture],
    suffixes: Sequence[str],
    site: Sequence[Link] = (),
    name: str = "all_tables",
    words: Words = OF_PAPER,
    labels: Sequence[str] = (),
) -> str:
    """HTML page that lists all tables and figures by paper, with cells by state; in a site also with its `labels`.

    `figures` are figures that belong to no paper.
    """
    summaries = [drawn.summary for paper in papers for drawn in paper.tables]
    return page(
        "all_tables",
        labels or shared_labels(summaries),
        site=site,
        title=words.title,
        name=name,
        papers=papers,
        figures=figures,
        suffixes=suffixes,
        cells=sum(summary.count for summary in summaries),
        states=states(summaries),
    )


def states(summaries: Sequence[Summary]) -> str:
    """Formats the number of cells in each state as text."""
    counts = Counter({name: 0 for name in STATES})
    for summary in summaries:
        counts.update({state.name: state.count for state in summary.states})
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def shared_labels(summaries: Sequence[Summary]) -> list[str]:
    """Labels of all tables together, without the counts in brackets."""
    return list(dict.fromkeys(label.partition(" (")[0] for summary in summaries for label in summary.labels))


def page(template: str, labels: Sequence[str], site: Sequence[Link] = (), **values: object) -> str:
    """Fills a page's template; every page states the `labels` of its numbers; `site` are the links at its head."""
    return (
        _environment()
        .get_template(f"{template}.html.j2")
        .render(style=_inline("css"), script=_inline("js"), labels=labels, site=site, **{"folder": ""} | values)
    )


@cache
def _environment() -> jinja2.Environment:
    """Jinja environment of the page templates, with the filters of HTML."""
    environment = templates(html.escape)
    environment.filters["code"] = lambda text: Ready(html.code(text))
    environment.filters["isolated"] = lambda text: Ready(html.isolated(text))
    environment.filters["explained"] = _explained
    environment.filters["facts"] = lambda value, known=(): Ready(html.facts(value, known))
    return environment


def _explained(text: str) -> Ready:
    return Ready(explained(text if isinstance(text, Ready) else html.escape(text)))


@cache
def _inline(kind: str) -> dict[str, str]:
    """Reads the style (`css`) or script (`js`) of all pages, and computes the hash by which a page allows it."""
    text = templates(html.escape).get_template(f"page.{kind}.j2").render(mark_widths=html.MARK_WIDTHS)
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return {"text": Ready(text), "hash": f"sha256-{digest}"}
