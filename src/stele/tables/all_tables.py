r"""Render all tables together: one Markdown file, one LaTeX document, one HTML page a paper and the list of them.

    python -m stele tables all_tables

Written to {output-dir}: all_tables.md, all_tables.tex (it \inputs each table's own file from there), all_tables.bib,
all_tables.html and {paper}.html. The order is that of the papers and their tables, whatever the order of --spec.
Tables of today's encoders, which are no paper's, go by another --name: today_tables.md and so on.
"""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stele.files.atomic import atomic_file
from stele.papers.claims import FILE
from stele.papers.table import NAMES, TODAY, load_spec
from stele.tables.render import bibliography, formats, markdown, pages
from stele.tables.render.claims import PaperClaims, draw_claims
from stele.tables.render.jinja import Ready
from stele.tables.render.layout import build
from stele.tables.render.pictures import Picture, pictures
from stele.tables.render.pictures import drawn as drawn_in
from stele.tables.render.summary import summarise, words_of
from stele.tables.values.cell import table_cells
from stele.tables.values.context import add_context_arguments, read_context
from stele.tables.values.lookup import Results
from stele.tables.values.significance import compare_rows, read_tests

log = logging.getLogger(__name__)
SUFFIXES = ("html", "md", "tex", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--spec", type=Path, nargs="+", help="default: all of paper_tables/ that are papers'")
    parser.add_argument("--name", default="all_tables", help="of the files that have them all (default: %(default)s)")
    add_context_arguments(parser)
    parser.add_argument("--results-dir", type=Path, default=Path("results"), help="default: %(default)s")
    parser.add_argument("--figures", type=Path, nargs="*", help="drawn already, as SVG; default: those of --output-dir")
    parser.add_argument(
        "--verdicts",
        type=Path,
        nargs="*",
        default=[],
        help="{paper}.json of `stele claims judge`; without them print alone",
    )
    parser.add_argument("--output-dir", type=Path, help="default: tables/ in the folder of results")


def run(args: argparse.Namespace) -> None:
    papers = [path for path in Path("paper_tables").glob("*/table_*.yaml") if path.parent.name != TODAY]
    loaded = [(load_spec(path), path) for path in args.spec or papers]
    loaded.sort(key=lambda pair: ([*NAMES].index(pair[0].paper), pair[0].number))
    folder = args.output_dir or args.results_dir / "tables"
    context, results = read_context(args), Results(args.results_dir)
    root = Path(os.path.relpath(args.results_dir, folder)).as_posix()
    drawn, sections = [], []
    for table, spec in loaded:
        cells = table_cells(table, context, results)
        tests = read_tests(folder / f"{table.file}.json", spec, cells, results) or compare_rows(cells, results)
        drawn.append(pages.draw(table, cells, context, results, tests, root=root))
        grid = build(table, cells, context.view, tests)
        summary = summarise(table, cells, context, results, tests, [grid])
        sections.append({"summary": summary, "grid": Ready(markdown.table(grid))})
    figures = list(pictures(drawn_in(folder) if args.figures is None else args.figures, folder))
    claims = draw_paper_claims({table.paper: spec.parent for table, spec in loaded}, drawn, args.verdicts)
    for name, text in texts(args.name, drawn, sections, figures, claims).items():
        with atomic_file(folder / name) as handle:
            handle.write(text)
    log.info("%s: %d tables: %s", folder, len(drawn), pages.states([one.summary for one in drawn]))


def draw_paper_claims(
    folders: Mapping[str, Path], drawn: Sequence[pages.Drawn], verdicts: Sequence[Path]
) -> dict[str, PaperClaims]:
    """Paper -> its claims, of those that have some in the folder of their specs; `verdicts` are {paper}.json."""
    judged = {path.stem: path for path in verdicts}
    return {
        paper: draw_claims(
            folder,
            {box: cell for one in drawn if one.table.paper == paper for box, cell in one.boxes.items()},
            judged.get(paper),
        )
        for paper, folder in folders.items()
        if (folder / FILE).is_file()
    }


def texts(
    name: str,
    drawn: Sequence[pages.Drawn],
    sections: Sequence[dict[str, Any]],
    figures: Sequence[Picture],
    claims: Mapping[str, PaperClaims],
) -> dict[str, str]:
    """File name -> content, from the tables, their summaries and grids in Markdown, the figures, and the claims."""
    papers = {paper: [one for one in drawn if one.table.paper == paper] for paper in NAMES}
    papers = {paper: tables for paper, tables in papers.items() if tables}
    summaries = [one.summary for one in drawn]
    by_table = {one.table.id: section for one, section in zip(drawn, sections, strict=True)}
    shared: dict[str, Any] = {
        "name": Ready(name),
        "words": words_of(drawn[0].table),
        "papers": [_paper(paper, tables, by_table, figures) for paper, tables in papers.items()],
        "figures": [picture for picture in figures if not picture.paper],
        "labels": pages.shared_labels(summaries),
        "count": len(drawn),
        "states": pages.states(summaries),
    }
    return {
        f"{name}.md": formats.markdown_page("all_tables", **shared),
        f"{name}.tex": formats.latex_page("all_tables", **shared),
        f"{name}.bib": bibliography.bibtex(),
        f"{name}.html": pages.index_page(drawn, SUFFIXES, figures, name=name, words=shared["words"]),
        **{
            f"{paper}.html": pages.paper_page(
                paper,
                tables,
                f"{name}.html",
                [picture for picture in figures if picture.paper == paper],
                claims.get(paper),
            )
            for paper, tables in papers.items()
        },
    }


def _paper(
    paper: str, tables: Sequence[pages.Drawn], sections: dict[str, dict[str, Any]], figures: Sequence[Picture]
) -> dict[str, Any]:
    return {
        "name": NAMES[paper],
        "citation": bibliography.of_paper(paper),
        "key": Ready(bibliography.load()["papers"].get(paper, "")),
        "figures": [picture for picture in figures if picture.paper == paper],
        "tables": [
            {
                "file": Ready(one.table.file),
                "number": one.table.number,
                **sections[one.table.id],
            }
            for one in tables
        ],
    }
