"""Write the tables that kept results fill as Markdown, which hosts of code show, and a list of them with main claims.

python -m stele tables sample evidence/study --to evidence/tables
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

from stele.claims.judging.verdicts import CONTEXT
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_file
from stele.files.paths import inside, read_stamp
from stele.papers.claims import FILE
from stele.papers.paper import Paper, papers_in
from stele.papers.table import load_specs
from stele.tables.all_tables import draw_paper_claims
from stele.tables.cells.cell import Results, table_cells
from stele.tables.cells.context import load_context
from stele.tables.cells.significance import compare_rows
from stele.tables.render import bibliography, formats, pages
from stele.tables.render.claim_parts import PaperClaims
from stele.tables.render.jinja import Ready

log = logging.getLogger(__name__)
JOB = "tables sample"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="a folder of results, e.g. evidence/study")
    parser.add_argument("--to", type=Path, required=True, help="the folder to write")
    parser.add_argument("--specs", type=Path, default=Path("paper_tables"), help="(default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    if (scale := read_stamp(args.results)) is None:
        raise SteleError(f"{args.results}: no folder of results; `make study` fills evidence/study")
    with atomic_directory(args.to, JOB) as folder:
        count = write(args, scale, folder)
    log.info("%s: %d tables", args.to, count)


def write(args: argparse.Namespace, scale: str, folder: Path) -> int:
    """Writes the tables and their list into an empty folder; returns how many tables there are."""
    context = load_context(path if (path := args.results / CONTEXT).is_file() else None)
    results, papers, drawn = Results(args.results), [], []
    for paper, about in papers_in(args.specs).items():
        tables = []
        for table in load_specs(args.specs / paper):
            cells = table_cells(table, context, results)
            if any(cell.measured for cell in cells):
                filled = (table, cells, context, results, compare_rows(cells, results))
                _write(inside(folder, f"{table.file}.md", str(args.specs)), formats.to_markdown(*filled))
                tables.append(pages.draw(*filled, root=""))
        drawn += tables
        if tables:
            papers.append(_listed(about, tables, _claims(args, paper)))
    summaries = [one.summary for one in drawn]
    listed = {"papers": papers, "labels": pages.shared_labels(summaries), "count": len(drawn), "scale": scale}
    _write(folder / "README.md", formats.markdown_page("sample", **listed))
    return len(drawn)


def _claims(args: argparse.Namespace, paper: str) -> PaperClaims | None:
    verdicts = args.results / "claims" / f"{paper}.json"
    if not (verdicts.is_file() and (args.specs / paper / FILE).is_file()):
        return None
    return draw_paper_claims({paper: args.specs / paper}, [], [verdicts])[paper]


def _listed(paper: Paper, tables: list[pages.Drawn], claims: PaperClaims | None) -> dict[str, Any]:
    return {
        "name": paper.name,
        "citation": bibliography.of_paper(paper),
        "claims": claims,
        "tables": [
            {
                "number": one.table.number,
                "file": Ready(one.table.file),
                "caption": one.summary.caption,
                "states": pages.states([one.summary]),
            }
            for one in tables
        ],
    }


def _write(path: Path, text: str) -> None:
    with atomic_file(path, encoding="utf-8") as handle:
        handle.write(text)
