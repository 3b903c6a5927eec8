"""Details of an unfolded cell: its target, outcome, command and records; and the commands that build rows.

Times, hosts and devices are left out, so that a slower machine makes the same page.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from stele.artifacts.records import ANCESTRY, CIRCUMSTANCES, Record
from stele.artifacts.results import Result, RunKey
from stele.files.paths import STUDY, read_stamp
from stele.files.reading import read_note
from stele.tables.render import published
from stele.tables.render.layout import FAIL, difference_text, printed_difference
from stele.tables.values import numbers
from stele.tables.values.cell import Cell
from stele.tables.values.lookup import STATES, Results
from stele.tables.values.significance import Comparisons, FilledTable

# circumstances of a job that say which software ran, not when, where or how fast
SHOWN_ANYWAY = ("versions", "commit", "python")
HIDDEN = {*CIRCUMSTANCES} - {*SHOWN_ANYWAY}
# keys of a record that the table or the cell's facts show already
SAID = {"metrics", "intervals", "outputs", "benchmark", "model", "setting", "labels", ANCESTRY}
UNBUILDABLE = ("unavailable", "not in scale")  # states of cells that this run's scale and data cannot fill
LONGEST = 24  # items of a list; a text may have ten times as many letters


@dataclass(frozen=True)
class Unfolded:
    """Details of one cell, in the box `id` of a page.

    `result` is the result of its target, None for a cell without one; `path` names its files, `sources` those that its
    value was read from, empty without a value. `covered`: numbers of languages of our average and the paper's, None if
    complete. `href` leads to the result's file; it is "" without a value, and for a mean over seeds of the table's own.
    """

    id: str
    address: str
    title: str
    facts: dict[str, str]
    path: str
    command: str
    result: RunKey | None
    sources: tuple[Path, ...]
    covered: tuple[int, int] | None
    href: str


def unfold(filled: FilledTable, place: int, root: str) -> Unfolded:
    """Details of a table's cell number `place`; `root` is the relative path from the page to the folder of results."""
    cell, results = filled.cells[place], filled.results
    names = (cell.group.label, cell.row.label, cell.line.label, cell.column.group, cell.column.header)
    paths, is_partial = files_of(cell, results), cell.measured and not cell.complete
    result = cell.reference.result if cell.reference else None
    return Unfolded(
        id=f"t{cell.table.number:02d}-{place}",
        address=cell.address,
        title=" · ".join(filter(None, names)),
        facts={name: value for name, value in _facts(cell, filled.tests).items() if value},
        path=" ".join(map(str, paths)),
        command=command(results, paths) if paths and cell.outcome.state not in UNBUILDABLE else "",
        result=result,
        sources=tuple(paths) if cell.measured else (),
        covered=(len(cell.outcome.languages), len(cell.reference.languages)) if is_partial else None,
        href=f"{root}/{result.path}.json" if result and cell.measured and not cell.seeds else "",
    )


def _facts(cell: Cell, tests: Comparisons) -> dict[str, str]:
    """Facts of a cell as texts by name; a text is "" if there is nothing to say."""
    outcome, reference = cell.outcome, cell.reference
    state = STATES[outcome.state]
    facts = {
        "state": f"{state.name}: {state.meaning}",
        "why": outcome.reason,
        "ours": "",
        **({} if cell.table.of_today else {"paper": _printed(cell)}),
        "difference": difference_text(cell),
        **published.facts(cell),
    }
    if outcome.value is not None:
        number = f"{numbers.ours(outcome.value, cell.report)} (unrounded {outcome.value!r})"
        facts["ours"] = number if cell.shows_number else f"{FAIL}: {number}"
        if outcome.guess:
            guess, error = (numbers.ours(value, cell.report) for value in outcome.guess)
            facts["a guess"] = f"{guess} (standard error of our distance from it: {error})"
        if (deviation := outcome.deviation) is not None:
            facts["deviation over seeds"] = f"{numbers.ours(deviation, cell.report)} (unrounded {deviation!r})"
    if tested := tests.cells.get(cell.address):
        facts["tested against"] = f"{tested.against}: p = {tested.p:.3g}, corrected {tested.corrected:.3g}"
    if reference:
        facts |= {
            "benchmark": reference.benchmark,
            "model": reference.model,
            "setting": reference.setting,
            "metric": reference.metric,
        }
        facts["average of" if reference.average else "language"] = ", ".join(reference.languages)
        if cell.measured and not cell.complete:
            facts["not in this average"] = ", ".join(
                code for code in reference.languages if code not in outcome.languages
            )
    return facts | {"labels": "; ".join(outcome.labels)}


def _printed(cell: Cell) -> str:
    if cell.printed is None:
        return ""
    where = f" (printed under {cell.printed_under.header})" if cell.printed_under != cell.column else ""
    return f"{cell.printed_text}{cell.printed.marks}{printed_difference(cell)}{where}"


# --- records ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Provenance:
    """The records of one result (path -> facts) and its ancestry (digest -> facts); facts name inputs by digest."""

    result: RunKey
    records: dict[str, Record]
    ancestry: Record


def provenance(cells: Iterable[Unfolded], results: Results) -> list[Provenance]:
    """Collects the records of all results behind `cells`, each result once, in order, without damaged ones.

    Other files in the folder of results are ignored: other seeds, or results that the table only borrows.
    """
    results_shown = sorted({(cell.result, cell.sources) for cell in cells if cell.result and cell.sources})
    read = [_provenance(results, result, sources) for result, sources in results_shown]
    return [result for result in read if result.records]


@lru_cache(maxsize=256)  # tables share results
def _provenance(results: Results, result: RunKey, sources: tuple[Path, ...]) -> Provenance:
    """Collects the records of a value's sources, of the seeds that they average, and of the runs that those score."""
    folder = results.path(result).with_suffix("")
    records_read = {path: read_note(path) for path in sources}
    seeds = sorted({name for record in records_read.values() for name in _seeds_of(record)})
    scored = {path: read_note(path) for path in (folder / f"{name}.json" for name in seeds)}
    record_paths = (folder / name / file for name in seeds for file in ("retrieval.json", "answers.json"))
    retrieved = {path: read_note(path) for path in record_paths}
    read = {path.as_posix(): record for path, record in (records_read | scored | retrieved).items()}
    ancestries = [ancestors for record in read.values() if isinstance(ancestors := record.get(ANCESTRY), dict)]
    known = {digest: facts for ancestors in ancestries for digest, facts in ancestors.items()}
    known |= dict(_ancestors(read.values(), results.ancestry))
    ancestry = {digest: shown(facts) for digest, facts in known.items()}
    facts = {name: shown({key: record[key] for key in record if key not in SAID}) for name, record in read.items()}
    return Provenance(result, {name: shown_facts for name, shown_facts in facts.items() if shown_facts}, ancestry)


def _ancestors(of: Iterable[Record], ancestry: Record) -> Iterator[tuple[str, Record]]:
    """Yields digest and facts of all ancestors, by the digests that records and their ancestors name as inputs."""
    todo, seen = [record for record in of if isinstance(record, dict)], set()
    while todo:
        inputs = todo.pop().get("inputs")
        for digest in inputs.values() if isinstance(inputs, dict) else ():
            if digest in ancestry and digest not in seen:
                seen.add(digest)
                todo.append(ancestry[digest])
                yield digest, ancestry[digest]


def _seeds_of(record: Record) -> list[str]:
    try:
        return Result.model_validate(record).seed_names
    except ValidationError:
        return []


def shown(value: Any) -> Any:
    """Prepares a record's value for a page: without circumstances and empty values at any depth, and shortened."""
    if isinstance(value, dict):
        visible = {str(key): shown(entry) for key, entry in sorted(value.items()) if key not in HIDDEN}
        return {key: entry for key, entry in visible.items() if entry not in (None, "", [], {})}
    if isinstance(value, list):
        rest = [f"… ({len(value)} in all)"] if len(value) > LONGEST else []
        return [shown(entry) for entry in value[:LONGEST]] + rest
    text = "yes" if value is True else "no" if value is False else value
    return f"{text[: LONGEST * 10]}…" if isinstance(text, str) and len(text) > LONGEST * 10 else text


# --- commands ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RowTargets:
    """One row, its group's heading if it begins a group, and the command that builds the row's results."""

    heading: str
    label: str
    command: str


def row_targets(cells: Sequence[Cell], results: Results) -> list[RowTargets]:
    """Rows with the commands that build their result files; a row, or a file of it, that no run builds is left out."""
    targets: list[RowTargets] = []
    heading = ""
    for _, row in groupby(cells, key=lambda cell: (cell.group.key, cell.row.key)):
        row = list(row)
        needed = [cell for cell in row if cell.outcome.state not in ("borrowed", *UNBUILDABLE)]
        paths = sorted({path for cell in needed for path in files_of(cell, results)})
        if paths:
            before, heading = heading, row[0].group.label
            shown = "" if heading == before else heading
            targets.append(RowTargets(shown, row[0].row.label, command(results, paths)))
    return targets


def command(results: Results, paths: Sequence[Path]) -> str:
    """Command that builds files of a folder of results; packed results are built again in another folder."""
    folder, config = results.folder, []
    if (folder / STUDY).is_file():
        scale = read_stamp(folder)
        folder, config = Path(f"results_{scale}"), [f"scale={scale}"]
    if folder != Path("results"):
        config.append(f"results_dir={folder}")
    files = [(folder / path.relative_to(results.folder)).as_posix() for path in paths]
    return shlex.join(["snakemake", *files, *(["--config", *config] if config else [])])


def files_of(cell: Cell, results: Results) -> list[Path]:
    """Result files of a cell, one per seed if the table has seeds of its own; empty for a cell without a result."""
    return results.paths(cell.reference.result, cell.seeds) if cell.reference else []
