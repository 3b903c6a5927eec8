"""Speed of rendering all tables of a folder of results: by part, beside pandas, and as the commands of a run.

    python tests/speed/bench_tables.py --results-dir results

Prints a line of JSON with CPU seconds. `parts`: one process renders every table in every format, each part on its own.
`grids_s` and `pandas_s`: the same grids of texts (ours, the paper's and the difference) as LaTeX and HTML, by us and by
DataFrame.to_latex and to_html; `times_pandas` is how many times as long ours takes. `commands`: wall and CPU seconds of
each command as a process of its own, start included; together they are to stay below 60 s on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """(CPU seconds of this process, what the call returned)."""
    begun = time.process_time()
    value = call()
    return time.process_time() - begun, value


def parts(specs: Sequence[Path], results_dir: Path, context: Path | None) -> dict[str, Any]:
    """The parts of rendering, one after the other over all tables, and the peer on the same grids."""
    from stele.papers.table import load_spec
    from stele.tables.render import formats, html, latex, page_fit, pages
    from stele.tables.render.layout import build
    from stele.tables.values.cell import table_cells
    from stele.tables.values.context import load_context
    from stele.tables.values.lookup import Results
    from stele.tables.values.significance import compare_rows

    known, results, taken = load_context(context), Results(results_dir), {}

    def timed(name: str, call: Callable[[], list[Any]]) -> list[Any]:
        taken[name], value = cpu_seconds(call)
        return value

    tables = timed("specs", lambda: [load_spec(path) for path in specs])
    cells = timed("cells", lambda: [table_cells(table, known, results) for table in tables])
    tests = timed("significance", lambda: [compare_rows(one, results) for one in cells])
    filled = [(t, one, known, results, test) for t, one, test in zip(tables, cells, tests, strict=True)]
    timed("markdown", lambda: [formats.to_markdown(*one) for one in filled])
    timed("latex", lambda: [formats.to_latex(*one) for one in filled])
    timed("csv", lambda: [[formats.cell_row(cell, results) for cell in of_table] for of_table in cells])
    drawn = timed("html_cells", lambda: [pages.draw(*one, root="../..") for one in filled])
    timed("html_pages", lambda: [pages.table_page(one, "../all_tables.html") for one in drawn])
    grids = timed("grids", lambda: [build(table, one, "side", test) for table, one, _, _, test in filled])
    for remembered in (latex.escape, html.escape, page_fit.letters):
        remembered.cache_clear()  # the grids were seen above
    ours, _ = cpu_seconds(lambda: [(latex.table(grid), html.table(grid, str)) for grid in grids])
    frames = [_frame(grid) for grid in grids]
    frames[0].head(1).to_latex(), frames[0].head(1).to_html()  # what it imports only then
    theirs, _ = cpu_seconds(lambda: [(frame.to_latex(index=False), frame.to_html(index=False)) for frame in frames])
    return {
        "tables": len(tables),
        "cells": sum(map(len, cells)),
        "boxes": sum(frame.size for frame in frames),
        "parts": {name: round(seconds, 3) for name, seconds in taken.items()},
        "grids_s": round(ours, 3),
        "pandas_s": round(theirs, 3),
        "times_pandas": round(ours / theirs, 2),
    }


def _frame(grid: Any) -> Any:
    """A grid's texts with their raised marks as a table of pandas."""
    import pandas

    rows = [
        [f"{box.text}{box.raised}" for box in (*line.stubs, *line.boxes)]
        for section in grid.sections
        for line in section.lines
    ]
    return pandas.DataFrame(rows, columns=[*grid.stub, *(column.header for column in grid.columns)])


def commands(specs: Sequence[Path], results_dir: Path, context: Path | None) -> dict[str, dict[str, float]]:
    """Command -> wall and CPU seconds; written to a folder that is thrown away."""
    given = ["--results-dir", str(results_dir), *(["--context", str(context)] if context else [])]
    figures = sorted({path for spec in specs for path in spec.parent.glob("figure_*.yaml")})
    with tempfile.TemporaryDirectory() as scratch:
        pictures = [Path(scratch, spec.parent.name, f"{spec.stem}.svg") for spec in figures]
        lines = {
            "table": [["table", "--spec", *map(str, specs), "--output-dir", scratch]],
            "figure": [
                ["figure", "--spec", str(s), "--output", str(p)] for s, p in zip(figures, pictures, strict=True)
            ],
            "cells": [["cells", "--map", f"{scratch}/cell_map.svg"]],
            "all_tables": [["all_tables", "--spec", *map(str, specs), "--output-dir", scratch]],
        }
        return {name: _command([[*line, *given] for line in one]) for name, one in lines.items()}


def _command(lines: Sequence[Sequence[str]]) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    for line in lines:
        command = [sys.executable, "-m", "stele", "tables", *line]
        subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_s": round(time.perf_counter() - begun, 2), "cpu_s": round(cpu, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results-dir", type=Path, default=Path("results"))
    parser.add_argument("--specs", type=Path, default=ROOT / "paper_tables")
    args = parser.parse_args()
    context = args.results_dir / "tables/context.json"
    given = sorted(args.specs.glob("*/table_*.yaml")), args.results_dir, context if context.is_file() else None
    print(json.dumps({**parts(*given), "commands": commands(*given)}))


if __name__ == "__main__":
    main()
