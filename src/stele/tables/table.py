"""Render tables as Markdown, LaTeX, CSV and HTML: our number, the paper's, the difference and the state of each cell.

    stele tables table --spec paper_tables/msm/table_0*.yaml

It works at any moment, also before or half-way through a run: a cell without a result shows its state, and so does one
with a damaged result, which also sets the exit code to 1. One call can render many tables. Each is written to
{output-dir}/{paper}/table_NN.md, .tex, .csv and .html; its record, with its inputs and significance tests, is .json.
"""

import logging
import os
from collections import Counter
from pathlib import Path

from stele.artifacts import records
from stele.command.arguments import Some, check_beside_record
from stele.files.atomic import atomic_file
from stele.files.digests import digest
from stele.papers.table import load_spec
from stele.tables.render import formats, pages
from stele.tables.values.cell import count_text, counted
from stele.tables.values.context import ContextJob, date_by_hand, read_context, refuse
from stele.tables.values.lookup import Results
from stele.tables.values.significance import fill, results_in, tests_record

log = logging.getLogger(__name__)
FORMATS = {"md": formats.to_markdown, "tex": formats.to_latex, "csv": formats.to_csv}


class Table(ContextJob):
    spec: Some[Path]
    """Tables to render: paper_tables/{paper}/table_NN.yaml."""
    output_dir: Path | None = None
    """Folder to write to; default: tables/ in the folder of results."""


def run(args: Table) -> None:
    tables = [load_spec(path) for path in args.spec]  # a wrong one writes nothing
    context, results = read_context(args), Results(args.results_dir)
    targets = [(args.output_dir or args.results_dir / "tables") / table.file for table in tables]
    for target in targets if args.output_dir else ():  # else the folder is Stele's own
        for suffix in (*FORMATS, "html"):
            check_beside_record(Path(f"{target}.{suffix}"), "table")
    damaged: dict[str, None] = {}
    for path, table, target in zip(args.spec, tables, targets, strict=True):
        records.begin()
        filled = fill(table, context, results)
        cells = filled.cells
        root = Path(os.path.relpath(args.results_dir, target.parent)).as_posix()
        texts = {suffix: write(filled) for suffix, write in FORMATS.items()}
        index = "today_tables" if table.of_today else "all_tables"
        texts["html"] = pages.table_page(pages.draw(filled, root=root), index=f"../{index}.html")
        for suffix, text in texts.items():
            with atomic_file(f"{target}.{suffix}") as handle:
                handle.write(text)
        records.write_record(
            f"{target}.json",
            job="table",
            inputs={"spec": path},
            labels={label for cell in cells for label in cell.outcome.labels},
            table=table.id,
            scale=context.scale,
            results=results_in(cells, results),
            **tests_record(filled.tests),
            content=digest(texts),
        )
        date_by_hand((f"{target}.{suffix}" for suffix in (*texts, "json")), args.context, args.results_dir)
        states = Counter(cell.outcome.state for cell in counted(cells))
        log.info("%s: %s: %s", table.file, count_text(cells), ", ".join(f"{n} {state}" for state, n in states.items()))
        damaged |= dict.fromkeys(cell.outcome.reason for cell in cells if cell.outcome.state == "unreadable")
        damaged |= dict.fromkeys(filled.tests.damaged)
    refuse(damaged, context)
