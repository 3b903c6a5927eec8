r"""Render all tables together: a Markdown file, a LaTeX document, an HTML page for each paper, and a list of the pages.

    stele tables all_tables

The files in {output-dir} are all_tables.md, all_tables.tex (which \inputs each table's own file), all_tables.bib,
all_tables.html and {paper}.html, ordered by paper and table, whatever the order of --spec. Tables of today's encoders,
which no paper prints, take another --name: today_tables.md and so on.
"""

import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stele.command.arguments import Name, Some
from stele.files.atomic import CREATOR, atomic_file, check_marked
from stele.papers.claims import FILE
from stele.papers.paper import paper_folder, papers_in
from stele.papers.table import load_spec
from stele.tables.render import bibliography, formats, markdown, pages
from stele.tables.render.claims import PaperClaims, draw_claims
from stele.tables.render.jinja import Ready
from stele.tables.render.layout import build
from stele.tables.render.pictures import drawn as drawn_in
from stele.tables.render.pictures import pictures
from stele.tables.render.summary import summarise
from stele.tables.values.cell import table_cells
from stele.tables.values.context import ContextJob, date_by_hand, read_context
from stele.tables.values.lookup import Results
from stele.tables.values.significance import FilledTable, compare_rows, read_tests

log = logging.getLogger(__name__)
SUFFIXES = ("html", "md", "tex", "csv")


class AllTables(ContextJob):
    spec: Some[Path] | None = None
    """Tables to render, table_NN.yaml; default: all tables in paper_tables/."""
    name: Name = "all_tables"
    """Name, without suffix, of the files that hold all tables."""
    figures: tuple[Path, ...] | None = None
    """Drawn figures (.svg) to include; default: those in --output-dir, of the papers' specs."""
    verdicts: tuple[Path, ...] = ()
    """{paper}.json files of `stele claims judge`; without them claims have verdicts on the printed numbers only."""
    output_dir: Path | None = None
    """Folder to write to; default: tables/ in the folder of results."""


def run(args: AllTables) -> None:
    # read the specs, in the order of papers and tables
    specs = args.spec or [path for paper in papers_in() for path in paper_folder(paper).glob("table_*.yaml")]
    loaded = [(load_spec(path), path) for path in specs]
    loaded.sort(key=lambda pair: (pair[0].rank, pair[0].number))
    folder = args.output_dir or args.results_dir / "tables"
    context, results = read_context(args), Results(args.results_dir)
    root = Path(os.path.relpath(args.results_dir, folder)).as_posix()

    # draw each table, with the tests in its record if they are up to date
    drawn, grids = [], {}
    for table, spec in loaded:
        cells = table_cells(table, context, results)
        tests = read_tests(folder / f"{table.file}.json", spec, cells, results) or compare_rows(cells, results)
        filled = FilledTable(table, cells, context, results, tests)
        drawn.append(pages.draw(filled, root=root))
        grid = build(filled, context.view)
        grids[table.id] = Ready(markdown.table(grid)), summarise(filled, [grid])

    # set tables, figures and claims together
    folders = {table.paper: spec.parent for table, spec in loaded}
    figures = list(pictures(drawn_in(folder, folders) if args.figures is None else args.figures, folder))
    papers, verdicts = pages.by_paper(drawn, figures), {path.stem: path for path in args.verdicts}
    claims = {paper.key: paper_claims(folders[paper.key], paper.tables, verdicts.get(paper.key)) for paper in papers}
    of_all = [figure for figure in figures if not figure.paper]
    summaries = [summary for _, summary in grids.values()]
    shared: dict[str, Any] = {
        "name": Ready(args.name),
        "words": summaries[0].words,
        "papers": papers,
        "figures": of_all,
        "grids": grids,
        "labels": pages.shared_labels(summaries),
        "states": pages.states(summaries),
    }
    index = f"{args.name}.html"
    texts = {
        f"{args.name}.md": formats.markdown_page("all_tables", **shared),
        f"{args.name}.tex": formats.latex_page("all_tables", **shared),
        f"{args.name}.bib": f"% {CREATOR}\n{bibliography.bibtex(paper.about for paper in papers)}",
        index: pages.index_page(papers, of_all, SUFFIXES, name=args.name, words=summaries[0].words),
        **{f"{paper.key}.html": pages.paper_page(paper, index, claims[paper.key]) for paper in papers},
    }
    for name in texts if args.output_dir else ():  # else the folder is Stele's own
        check_marked(folder / name)
    for name, text in texts.items():
        with atomic_file(folder / name) as handle:
            handle.write(text)
    date_by_hand((folder / name for name in texts), args.context, args.results_dir)
    log.info("%s: %d tables: %s", folder, len(drawn), shared["states"])


def paper_claims(folder: Path, drawn: Iterable[pages.Drawn], verdicts: Path | None = None) -> PaperClaims | None:
    """Draws the claims of a paper's folder, None if it has none; `verdicts` is its file of `stele claims judge`."""
    boxes = {place: box for table in drawn for place, box in table.boxes.items()}
    return draw_claims(folder, boxes, verdicts) if (folder / FILE).is_file() else None
