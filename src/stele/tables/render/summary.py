"""What stands below a table: labels, states with their reasons, a legend, footnotes, how to build it and each row."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from stele.files.paths import STUDY, read_stamp
from stele.papers.table import NAMES, Table
from stele.papers.table_parts import Footnote
from stele.tables.cells import numbers
from stele.tables.cells.cell import Cell, Results
from stele.tables.cells.context import Context
from stele.tables.cells.significance import BETTER, Comparisons
from stele.tables.cells.states import STATES
from stele.tables.render import published
from stele.tables.render.layout import FAIL, delta_of
from stele.tables.render.words import Words, words_of

EXPECTED = ("not run", "not built")  # states whose reasons are many and alike
SHOWN = 5  # of such reasons


@dataclass(frozen=True)
class StateNote:
    """One state of the table's cells: how many are in it, its letter and meaning, and reason -> labels of the rows."""

    name: str
    count: int
    letter: str
    meaning: str
    reasons: dict[str, list[str]]


@dataclass(frozen=True)
class RowTargets:
    """One row, its group's heading where a group begins, and the command that builds the row's results."""

    heading: str
    label: str
    command: str


@dataclass(frozen=True)
class Summary:
    """All that stands below a table, as plain texts.

    `count` and those of the states are of the paper's own cells, without rows that it does not have; `counted` is
    whether they are cells at all, which the entries of a list of acronyms are not.
    """

    title: str
    caption: str
    labels: list[str]
    count: int
    counted: bool
    states: list[StateNote]
    legend: list[str]
    marks: dict[str, str]
    footnotes: list[Footnote]
    command: str
    rows: list[RowTargets]
    words: Words


def summarise(table: Table, cells: Sequence[Cell], context: Context, results: Results, tests: Comparisons) -> Summary:
    """The summary of one rendered table."""
    return Summary(
        title=f"{NAMES[table.paper]}, Table {table.number}",
        caption=table.caption,
        labels=_labels(table, cells, context),
        count=sum(not cell.extra for cell in cells),
        counted=table.counted,
        states=_states(cells),
        legend=_legend(cells, context, tests),
        marks=table.marks,
        footnotes=table.footnotes,
        command=command(results, [results.folder / "tables" / f"{table.file}.md"]),
        rows=_row_targets(cells, results),
        words=words_of(table),
    )


def _labels(table: Table, cells: Sequence[Cell], context: Context) -> list[str]:
    """What the reader must know of our numbers; generated data or stand-ins are never the paper's numbers."""
    measured = [cell for cell in cells if cell.measured]
    counts = Counter(label for cell in measured for label in cell.outcome.labels)
    texts = [
        label if count == len(measured) else f"{label} ({count} of the {len(measured)} measured cells)"
        for label, count in sorted(counts.items())
    ]
    if not all(cell.comparable for cell in measured):
        texts.append(f"{words_of(table).not_theirs}: {context.scale or 'a generated world'}")
    return texts


def _states(cells: Sequence[Cell]) -> list[StateNote]:
    notes = []
    labels = list(dict.fromkeys(cell.row.label for cell in cells))
    for state in STATES.values():
        of_state = [cell for cell in cells if cell.outcome.state == state.name]
        reasons: dict[str, list[str]] = {}
        for cell in of_state:
            if cell.outcome.reason:
                rows = reasons.setdefault(cell.outcome.reason, [])
                if cell.row.label not in rows:
                    rows.append(cell.row.label)
        if of_state:
            reasons = {reason: ["all rows"] if rows == labels else rows for reason, rows in reasons.items()}
            if state.name in EXPECTED and len(reasons) > SHOWN + 1:
                rest = list(reasons)[SHOWN:]
                reasons = {reason: reasons[reason] for reason in reasons if reason not in rest}
                reasons["each cell of the HTML page unfolds to its own"] = [f"{len(rest)} more"]
            count = sum(not cell.extra for cell in of_state)
            notes.append(StateNote(state.name, count, state.letter, state.meaning, reasons))
    return notes


def _legend(cells: Sequence[Cell], context: Context, tests: Comparisons) -> list[str]:
    """How to read our numbers; only what occurs."""
    if not any(cell.measured for cell in cells):
        return list(published.legend(cells))
    lower = any(cell.direction == "lower" for cell in cells)
    texts = [
        "Ours: bold is best and underlined second-best of a column among comparable rows, on unrounded values, ties all"
        " marked" + (" (lower is better where the header says so)." if lower else ".")
    ]
    if any(cell.shows_number and not cell.complete for cell in cells):
        whose = "its" if cells[0].table.of_today else "the paper's"
        texts.append(f"k/n: our average covers k of {whose} n languages, so no difference is shown.")
    if context.view == "side" and any(delta_of(cell) is not None and not cell.comparable for cell in cells):
        texts.append(
            f"No difference{'' if cells[0].table.of_today else ' from the paper'} is shown for generated data and"
            " stand-ins, where it means nothing;"
            " --difference and the HTML page's view show it."
        )
    if failed := _failed(cells):
        texts.append(f"{FAIL}: no result; in brackets our number. {failed}.")
    if any(cell.shows_number and cell.outcome.deviation is not None for cell in cells):
        texts.append("±: standard deviation over seeds.")
    if tests.method:
        texts.append(f"{BETTER}: {tests.method}.")
    if tests.untested:
        more = f"; and {len(tests.untested) - 2} more" if len(tests.untested) > 2 else ""
        texts.append(f"Not tested for significance: {'; '.join(tests.untested[:2])}{more}.")
    if any(cell.extra for cell in cells):
        texts.append(
            "+: a row of a model of your own." if cells[0].table.of_today else "+: a row that the paper does not have."
        )
    if any(cell.measured and not cell.extra and not cell.table.of_today for cell in cells):
        texts.append("Paper: marks and bold as printed.")
    return [*texts, *published.legend(cells)]


def _failed(cells: Sequence[Cell]) -> str:
    """The cells of ours that read `fail`, with our numbers, and why: row by row."""
    numbers_by_row: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.measured and not cell.shows_number:
            place = " ".join(filter(None, (cell.line.label, cell.column.header)))
            number = numbers.ours(cell.outcome.value, cell.report)
            numbers_by_row.setdefault((cell.row.label, cell.outcome.reason), []).append(f"{place} = {number}")
    return "; ".join(f"{row} ({', '.join(shown)}): {why}" for (row, why), shown in numbers_by_row.items())


def _row_targets(cells: Sequence[Cell], results: Results) -> list[RowTargets]:
    """Row by row, the command for the result files that its cells need; rows that need none are left out."""
    targets: list[RowTargets] = []
    headings = [""]
    for _, row in groupby(cells, key=lambda cell: (cell.group.key, cell.row.key)):
        row = list(row)
        results_needed = {
            cell.reference.result
            for cell in row
            if cell.reference and cell.outcome.state not in ("borrowed", "unavailable")
        }
        paths = sorted(results.path(*result) for result in results_needed)
        if paths:
            heading = row[0].group.label
            shown = "" if heading == headings[-1] else heading
            targets.append(RowTargets(shown, row[0].row.label, command(results, paths)))
            headings.append(heading)
    return targets


def command(results: Results, paths: Sequence[Path]) -> str:
    """The command that builds some files of a folder; what is kept is built anew in another one."""
    if not (results.folder / STUDY).is_file():
        return shlex.join(["snakemake", *(path.as_posix() for path in paths)])
    scale = read_stamp(results.folder)
    folder = f"results_{scale}"
    anew = [f"{folder}/{path.relative_to(results.folder).as_posix()}" for path in paths]
    return shlex.join(["snakemake", *anew, "--config", f"scale={scale}", f"results_dir={folder}"])


def target(cell: Cell, results: Results) -> str:
    """The result file that one cell needs, "" when none of ours belongs there."""
    return results.path(*cell.reference.result).as_posix() if cell.reference else ""
