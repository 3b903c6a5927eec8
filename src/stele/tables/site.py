"""Write a folder of packed results as a static site, or as Markdown that code hosts render.

    stele tables site evidence/study --to site
    stele tables site evidence/study --to evidence/tables --format md

The site has papers, tables, figures, claims, models and benchmarks. Nothing is built, and the pages need no network and
no server. In Markdown it has the tables with results, and a list of them with the main claims. An existing folder is
replaced if this command wrote everything in it.
"""

import logging
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from stele.artifacts import records
from stele.artifacts.results import result_files
from stele.claims.judge import judge, write_verdicts
from stele.claims.judging import trainings
from stele.claims.judging.verdicts import LOOKS_FILE, load_looks
from stele.command.arguments import Job, Positional, SpecsFolder
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_file
from stele.files.paths import STUDY, inside, read_stamp, refuse_within_results
from stele.files.reading import read_object
from stele.papers.claims import FILE
from stele.papers.paper import PAPER_TABLES, papers_in
from stele.papers.table import load_specs
from stele.tables.all_tables import paper_claims
from stele.tables.figure import write_figure
from stele.tables.render import formats, pages
from stele.tables.render.jinja import Ready
from stele.tables.render.pictures import pictures
from stele.tables.render.site import NAV, Contents, rows, texts
from stele.tables.table import FORMATS
from stele.tables.values.context import Context, context_of
from stele.tables.values.lookup import Results
from stele.tables.values.significance import FilledTable, fill

log = logging.getLogger(__name__)
JOB = "tables site"


class Site(Job):
    results: Positional[Path]
    """A folder of results, e.g. evidence/study."""
    to: Path
    """The folder to write."""
    specs: SpecsFolder = PAPER_TABLES
    format: Literal["html", "md"] = "html"
    """Format of the pages."""


def run(args: Site) -> None:
    if not args.results.is_dir() or read_stamp(args.results) is None:
        raise SteleError(f"{args.results}: no folder of results; give another (`make study` fills evidence/study)")
    refuse_within_results(args.to)
    write = {"html": write_site, "md": write_markdown}[args.format]
    with atomic_directory(args.to, JOB) as folder:
        write(args.results, args.specs, folder)
    files = [path for path in args.to.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    first = {"html": "index.html", "md": "README.md"}[args.format]
    log.info("%s: %d files, %.1f MB; open %s", args.to, len(files), size, args.to / first)


def filled_tables(results: Results, context: Context, specs: Path) -> Iterator[FilledTable]:
    """Yields every table of the papers below `specs`, with its cells and tests."""
    return (fill(table, context, results) for paper in papers_in(specs) for table in load_specs(specs / paper))


def verdicts_of(folder: Path, specs: Path, papers: Iterable[str], to: Path) -> dict[str, Path]:
    """Judges again the papers whose verdicts were packed with the results; returns their files in `to` by paper.

    The packed verdicts may come from an older version of the judging code.
    """
    judged_papers = [paper for paper in papers if (folder / "claims" / f"{paper}.json").is_file()]
    judged_papers = [paper for paper in judged_papers if (specs / paper / FILE).is_file()]
    if judged_papers:
        write_verdicts(judge(folder, specs, judged_papers), read_stamp(folder) or "", to)
    return {path.stem: path for path in sorted(to.glob("*.json"))}


def write_page(to: Path, name: str, text: str) -> None:
    """Writes one file of the site. Its name may come from a folder of results from elsewhere.

    Raises SteleError if the name leads out of the site.
    """
    with atomic_file(inside(to, name, "a page of the site"), encoding="utf-8") as handle:
        handle.write(text)


# --- HTML -------------------------------------------------------------------------------------------------------------
def write_site(folder: Path, specs: Path, to: Path) -> None:
    """Writes the site of a folder of results into an empty folder."""
    context, results = context_of(folder), Results(folder)

    # each table alone, in the formats beside HTML
    tables = []
    for filled in filled_tables(results, context, specs):
        for suffix, text in FORMATS.items():
            write_page(to, f"{filled.table.file}.{suffix}", text(filled))
        tables.append(pages.draw(filled, root="results"))

    # figures and claims
    for path in (path for paper in papers_in(specs) for path in sorted((specs / paper).glob("figure_*.yaml"))):
        name = to / path.parent.name / path.stem
        write_figure(path, context, results, [name.with_suffix(".svg"), name.with_suffix(".pdf")])
    papers = pages.by_paper(tables, pictures(sorted(to.glob("*/figure_*.svg")), to))
    verdicts = verdicts_of(folder, specs, papers_in(specs), to / "claims")
    claims = {paper.key: paper_claims(specs / paper.key, paper.tables, verdicts.get(paper.key)) for paper in papers}

    # the pages of papers, then the site's own
    contents = Contents(
        papers,
        {paper: of_paper for paper, of_paper in claims.items() if of_paper},
        rows(folder, tables),
        list(trainings.kept(folder).values()),
        list(trainings.kept(folder, trainings.FINETUNING).values()),
        results.ancestry,
        about(folder),
    )
    labels = contents.labels
    for paper in papers:
        boxes = f"boxes/{paper.key}"
        page = pages.paper_page(paper, "tables.html", claims[paper.key], NAV, labels, boxes)
        write_page(to, f"{paper.key}.html", page)
        for name, text in pages.box_files(paper.tables, claims[paper.key]):
            write_page(to, f"{boxes}/{name}", text)
    write_page(to, "tables.html", pages.index_page(papers, [], tuple(FORMATS), site=NAV, labels=labels))
    for name, text in texts(contents):
        write_page(to, name, text)

    # the results that cells and rows link to
    for path in result_files(folder):
        target = inside(to, f"results/{path.relative_to(folder).as_posix()}", str(folder))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def about(folder: Path) -> dict[str, Any]:
    """Facts of all results of a folder together: scale, claims, looks, code, packages and machines."""
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
    looks, path = load_looks(folder), folder / STUDY
    study = read_object(path, "record") if path.is_file() else {}
    return {
        "size": f"scale {read_stamp(folder)}",
        "begun": study.get("begun", ""),
        "claims": study.get("claims_sha256", {}),
        LOOKS_FILE: looks.model_dump(mode="json") if looks else "one look, at all seeds",
        "results by seeds": {name: str(count) for name, count in sorted(seeds.items())},
        "results by commit": {name: str(count) for name, count in counts["commit"].items()},
        "devices": ", ".join(counts["device"]),
        "Python": ", ".join(counts["python"]),
        "packages": {package: ", ".join(sorted(used)) for package, used in sorted(versions.items())},
    }


# --- Markdown ---------------------------------------------------------------------------------------------------------
def write_markdown(folder: Path, specs: Path, to: Path) -> None:
    """Writes the tables that have results, and README.md with a list of them and the main claims."""
    tables = []
    for filled in filled_tables(Results(folder), context_of(folder), specs):
        if any(cell.measured for cell in filled.cells):
            write_page(to, f"{filled.table.file}.md", formats.to_markdown(filled))
            tables.append(pages.draw(filled, root=""))
    papers = pages.by_paper(tables)
    verdicts = verdicts_of(folder, specs, [paper.key for paper in papers], to / "claims")
    claims = {
        paper.key: paper_claims(specs / paper.key, paper.tables, verdicts[paper.key])
        for paper in papers
        if paper.key in verdicts
    }
    for path in verdicts.values():
        path.unlink()  # beside Markdown the verdicts stand as CSV
    labels = pages.shared_labels([table.summary for table in tables])
    listed = {"papers": papers, "claims": claims, "labels": labels, "count": len(tables), "guide": _guide(to)}
    write_page(to, "README.md", formats.markdown_page("sample", scale=read_stamp(folder), **listed))


def _guide(to: Path) -> Ready:
    """Link to the page on evidence if `to` is in this project; else its name only."""
    project, name = PAPER_TABLES.parent.resolve(), "docs/evidence.md"
    if not to.resolve().is_relative_to(project) or not (project / name).is_file():
        return Ready(name)
    return Ready(f"[{name}]({Path(os.path.relpath(project / name, to.resolve())).as_posix()})")
