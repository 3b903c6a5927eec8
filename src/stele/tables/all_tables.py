r"""Render all tables together: one Markdown file, one LaTeX document, one HTML page a paper and the list of them.

    python -m stele tables all_tables

The files in {output-dir} are all_tables.md, all_tables.tex (which \inputs each table's own file), all_tables.bib,
all_tables.html and {paper}.html, ordered by paper and table, whatever the order of --spec. Tables of today's encoders,
which no paper prints, take another --name: today_tables.md and so on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stele.command.arguments import ResultsFolder, Some
from stele.files.atomic import atomic_file
from stele.papers.claims import FILE
from stele.papers.paper import paper_folder, papers_in
from stele.papers.table import load_spec
from stele.tables.render import bibliography, formats, markdown, pages
from stele.tables.render.claims import CellBox, PaperClaims, draw_claims
from stele.tables.render.jinja import Ready, words_of
from stele.tables.render.layout import build
from stele.tables.render.pictures import Picture, pictures
from stele.tables.render.pictures import drawn as drawn_in
from stele.tables.render.summary import summarise
from stele.tables.values.cell import table_cells
from stele.tables.values.context import ContextJob, read_context
from stele.tables.values.lookup import Results
from stele.tables.values.significance import compare_rows, read_tests

log = logging.getLogger(__name__)
SUFFIXES = ("html", "md", "tex", "csv")


class AllTables(ContextJob):
    spec: Some[Path] | None = None
    """Default: the papers' tables in paper_tables/."""
    name: str = "all_tables"
    """Name of the files with all tables."""
    results_dir: ResultsFolder = Path("results")
    figures: tuple[Path, ...] | None = None
    """Drawn figures as SVG; default: those in --output-dir."""
    verdicts: tuple[Path, ...] = ()
    """{paper}.json of `stele claims judge`; without them print alone."""
    output_dir: Path | None = None
    """Default: tables/ in the folder of results."""


def run(args: AllTables) -> None:
    # read the specs, in the order of papers and tables
    specs = args.spec or [path for paper in papers_in() for path in paper_folder(paper).glob("table_*.yaml")]
    loaded = [(load_spec(path), path) for path in specs]
    loaded.sort(key=lambda pair: (pair[0].rank, pair[0].number))
    folder = args.output_dir or args.results_dir / "tables"
    context, results = read_context(args), Results(args.results_dir)
    root = Path(os.path.relpath(args.results_dir, folder)).as_posix()

    # draw each table, with the tests in its record if they are up to date
    drawn, sections = [], []
    for table, spec in loaded:
        cells = table_cells(table, context, results)
        tests = read_tests(folder / f"{table.file}.json", spec, cells, results) or compare_rows(cells, results)
        drawn.append(pages.draw(table, cells, context, results, tests, root=root))
        grid = build(table, cells, context.view, tests)
        summary = summarise(table, cells, context, results, tests, [grid])
        sections.append({"summary": summary, "grid": Ready(markdown.table(grid))})

    # set tables, figures and claims together
    figures = list(pictures(drawn_in(folder) if args.figures is None else args.figures, folder))
    claims = draw_paper_claims({table.paper: spec.parent for table, spec in loaded}, drawn, args.verdicts)
    for name, text in texts(args.name, drawn, sections, figures, claims).items():
        with atomic_file(folder / name) as handle:
            handle.write(text)
    log.info("%s: %d tables: %s", folder, len(drawn), pages.states([table.summary for table in drawn]))


def draw_paper_claims(
    folders: Mapping[str, Path], drawn: Sequence[pages.Drawn], verdicts: Sequence[Path]
) -> dict[str, PaperClaims]:
    """Paper -> its claims, for papers with claims beside their specs; `verdicts` are files {paper}.json."""
    judged = {path.stem: path for path in verdicts}
    claims = {}
    for paper, folder in folders.items():
        if (folder / FILE).is_file():
            boxes: dict[tuple[str, str], CellBox] = {}
            for table in drawn:
                if table.table.paper == paper:
                    boxes |= table.boxes
            claims[paper] = draw_claims(folder, boxes, judged.get(paper))
    return claims


def texts(
    name: str,
    drawn: Sequence[pages.Drawn],
    sections: Sequence[dict[str, Any]],
    figures: Sequence[Picture],
    claims: Mapping[str, PaperClaims],
) -> dict[str, str]:
    """File name -> content. `sections` are the tables' summaries and grids for Markdown and LaTeX, in their order."""
    papers: dict[str, list[pages.Drawn]] = {}
    for table in drawn:  # by paper
        papers.setdefault(table.table.paper, []).append(table)
    summaries = [table.summary for table in drawn]
    by_table = {table.table.id: section for table, section in zip(drawn, sections, strict=True)}
    shared: dict[str, Any] = {
        "name": Ready(name),
        "words": words_of(drawn[0].table),
        "papers": [_paper(paper, tables, by_table, figures) for paper, tables in papers.items()],
        "figures": [picture for picture in figures if not picture.paper],
        "labels": pages.shared_labels(summaries),
        "count": len(drawn),
        "states": pages.states(summaries),
    }
    files = {
        f"{name}.md": formats.markdown_page("all_tables", **shared),
        f"{name}.tex": formats.latex_page("all_tables", **shared),
        f"{name}.bib": bibliography.bibtex(tables[0].table.about for tables in papers.values()),
        f"{name}.html": pages.index_page(drawn, SUFFIXES, figures, name=name, words=shared["words"]),
    }
    for paper, tables in papers.items():
        of_paper = [picture for picture in figures if picture.paper == paper]
        files[f"{paper}.html"] = pages.paper_page(tables, f"{name}.html", of_paper, claims.get(paper))
    return files


def _paper(
    paper: str, tables: Sequence[pages.Drawn], sections: dict[str, dict[str, Any]], figures: Sequence[Picture]
) -> dict[str, Any]:
    about = tables[0].table.about
    return {
        "name": about.name,
        "citation": bibliography.of_paper(about),
        "key": Ready(about.citation.key if about.citation else ""),
        "figures": [picture for picture in figures if picture.paper == paper],
        "tables": [
            {"file": Ready(table.table.file), "number": table.table.number, **sections[table.table.id]}
            for table in tables
        ],
    }
