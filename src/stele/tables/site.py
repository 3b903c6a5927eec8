"""Write a static site from a folder of kept results: papers, tables, figures, claims, models, benchmarks.

    python -m stele tables site evidence/study --to site

Nothing is built, and the pages need nothing but each other: no network, no server. A folder of that name is replaced
where all in it is of such a site.
"""

from __future__ import annotations

import argparse
import logging
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from stele.artifacts import records
from stele.artifacts.results import result_files
from stele.claims.judging import trainings
from stele.claims.judging.observed import FILE as LOOKS
from stele.claims.judging.observed import load_looks
from stele.claims.judging.verdicts import CONTEXT
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_file
from stele.files.paths import STUDY, inside, read_stamp
from stele.files.reading import read_object
from stele.papers.claims import FILE
from stele.papers.paper import papers_in
from stele.papers.table import load_specs
from stele.tables.all_tables import draw_paper_claims
from stele.tables.cells.cell import Results, table_cells
from stele.tables.cells.context import Context, load_context
from stele.tables.cells.significance import compare_rows
from stele.tables.figure import write_figure
from stele.tables.render import pages
from stele.tables.render.pictures import Picture, drawn, pictures
from stele.tables.render.site.rows import rows
from stele.tables.render.site.site import NAV, Contents, texts
from stele.tables.table import FORMATS

log = logging.getLogger(__name__)
JOB = "tables site"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="a folder of results, e.g. evidence/study")
    parser.add_argument("--to", type=Path, required=True, help="the folder to write")
    parser.add_argument("--specs", type=Path, default=Path("paper_tables"), help="(default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    if not args.results.is_dir() or read_stamp(args.results) is None:
        raise SteleError(f"{args.results}: no folder of results; `make study` fills evidence/study")
    with atomic_directory(args.to, JOB) as new:
        write(args.results, args.specs, new)
    files = [path for path in args.to.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    log.info("%s: %d files, %.1f MB; open %s", args.to, len(files), size, args.to / "index.html")


def write(folder: Path, specs: Path, to: Path) -> None:
    """The site of a folder of results, in an empty folder."""
    context = load_context(path if (path := folder / CONTEXT).is_file() else None)
    results = Results(folder)
    tables = _tables(specs, context, results, to)
    figures = _figures(specs, context, results, to)
    verdicts = [path for path in sorted(folder.glob("claims/*.json"))]
    claims = draw_paper_claims({paper: specs / paper for paper in _with_claims(specs)}, tables, verdicts)
    contents = Contents(
        tables,
        claims,
        figures,
        rows(folder, tables),
        list(trainings.kept(folder).values()),
        list(trainings.kept(folder, trainings.FINETUNING).values()),
        results.ancestry,
        about(folder),
    )
    for paper in dict.fromkeys(one.table.paper for one in tables):
        of_paper = [one for one in tables if one.table.paper == paper]
        of_figures = [figure for figure in figures if figure.paper == paper]
        page = pages.paper_page(paper, of_paper, "tables.html", of_figures, claims.get(paper), NAV)
        _write(to, f"{paper}.html", page)
    _write(to, "tables.html", pages.index_page(tables, tuple(FORMATS), figures, site=NAV))
    for name, text in texts(contents):
        _write(to, name, text)
    for path in result_files(folder):  # what cells and rows lead to
        target = inside(to, f"results/{path.relative_to(folder).as_posix()}", str(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _tables(specs: Path, context: Context, results: Results, to: Path) -> list[pages.Drawn]:
    """All tables, drawn; each alone in the other formats is written beside the pages."""
    tables = []
    for table in (table for paper in papers_in(specs) for table in load_specs(specs / paper)):
        cells = table_cells(table, context, results)
        filled = (table, cells, context, results, compare_rows(cells, results))
        for suffix, text in FORMATS.items():
            _write(to, f"{table.file}.{suffix}", text(*filled))
        tables.append(_linked(pages.draw(*filled, root="results"), results.folder))
    return tables


def _linked(drawn: pages.Drawn, folder: Path) -> pages.Drawn:
    """A table whose cells lead to results that are there, and to no others."""
    cells = [
        cell if cell.href and (folder / cell.href.removeprefix("results/")).is_file() else replace(cell, href="")
        for cell in drawn.cells
    ]
    return replace(drawn, cells=cells)


def _figures(specs: Path, context: Context, results: Results, to: Path) -> list[Picture]:
    for path in (path for paper in papers_in(specs) for path in sorted((specs / paper).glob("figure_*.yaml"))):
        name = to / path.parent.name / path.stem
        write_figure(path, context, results, [name.with_suffix(".svg"), name.with_suffix(".pdf")])
    return list(pictures(drawn(to), to))


def _with_claims(specs: Path) -> Iterable[str]:
    return [paper for paper in papers_in(specs) if (specs / paper / FILE).is_file()]


def about(folder: Path) -> dict[str, Any]:
    """What is said of all results of a folder together: scale, claims, looks, code, packages, machines."""
    counts: dict[str, Counter[str]] = {"commit": Counter(), "python": Counter(), "device": Counter()}
    versions: dict[str, set[str]] = {}
    seeds: Counter[str] = Counter()
    for path in result_files(folder, each_seed=True):
        record = records.read_record(path)
        seeds[path.stem] += 1
        for key, counter in counts.items():
            counter[str(record.get(key, "unknown"))] += 1
        for package, version in record.get("versions", {}).items():
            versions.setdefault(package, set()).add(version)
    looks, study = load_looks(folder), _object(folder / STUDY)
    return {
        "scale": read_stamp(folder) or "",
        "begun": study.get("begun", ""),
        "claims": study.get("claims_sha256", {}),
        LOOKS: looks.model_dump(mode="json") if looks else "one look, at all seeds",
        "results by seeds": {name: str(count) for name, count in sorted(seeds.items())},
        "results by commit": {name: str(count) for name, count in counts["commit"].items()},
        "devices": ", ".join(counts["device"]),
        "Python": ", ".join(counts["python"]),
        "packages": {package: ", ".join(sorted(found)) for package, found in sorted(versions.items())},
    }


def _object(path: Path) -> dict[str, Any]:
    return read_object(path, "record") if path.is_file() else {}


def _write(to: Path, name: str, text: str) -> None:
    """A file of the site; its name may come from a folder of results that was handed over."""
    with atomic_file(inside(to, name, "a page of the site"), encoding="utf-8") as handle:
        handle.write(text)
