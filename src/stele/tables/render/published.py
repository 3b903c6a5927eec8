"""What stands beside the numbers of a cell of today's encoders: the verdict, how often published, what was seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from stele.papers.table_parts import Report
from stele.published.verdicts import NEAR, SETTING, Verdict
from stele.tables.values import numbers
from stele.tables.values.cell import Cell

SEEN = "†"
INCOMPARABLE = "≠"
NOTED = "*"
JUDGED = ("OK", "near", "FAIL")


def verdict(cell: Cell) -> str:
    """OK, near or FAIL, by the published number that is shown; "" where it judges nothing."""
    state = cell.published[0].state if cell.published else ""
    return state if state in JUDGED else ""


def verdict_mark(cell: Cell) -> str:
    """What is raised at a difference: the verdict, and whether something is said that may move the number."""
    return f"{state}{NOTED if cell.published[0].notes else ''}" if (state := verdict(cell)) else ""


def incomparable(cell: Cell) -> bool:
    """Whether our number and the published one that is shown are not of the same thing."""
    return bool(cell.published) and cell.published[0].state == "not comparable"


def judges_nothing(cell: Cell) -> bool:
    """Whether the published number that is shown was not read at its source, and so is grey."""
    return bool(cell.published) and not cell.published[0].published.judges


def marks(cell: Cell) -> Iterator[str]:
    """What is raised at the published number of a cell."""
    if incomparable(cell):
        yield INCOMPARABLE
    if len(cell.published) > 1:
        yield f"×{len(cell.published)}"
    if cell.seen and not cell.measured:
        yield SEEN


def facts(cell: Cell) -> dict[str, str]:
    """The published numbers of a cell, each with its verdict, as a cell unfolds to them; what the model saw."""
    found = {f"published {place}": _fact(one, cell.report) for place, one in enumerate(cell.published, start=1)}
    if len(found) == 1:
        found = {"published": next(iter(found.values()))}
    return found | {"saw training questions of": ", ".join(cell.seen)}


def difference_in(one: Verdict, report: Report) -> Decimal:
    """Ours minus the published number in a table's units, unrounded, where there is one of ours."""
    assert one.ours is not None
    return numbers.scaled(one.ours, report) - numbers.scaled(one.published.value, report)


def _fact(one: Verdict, report: Report) -> str:
    score = one.published
    text = f"{numbers.ours(score.value, report)} (unrounded {score.value!r}, tolerance {score.tolerance!r})"
    if one.ours is not None:
        difference = numbers.signed(difference_in(one, report), report)
        text += f": {one.state}" + (f", {one.why}" if one.why else f", {difference}")
    revision = score.model_revision and f"revision {score.model_revision[:12]}"
    status = "" if score.judges else f"{score.status}, which judges nothing"
    return "; ".join(filter(None, [text, *one.notes, score.source, score.locator, revision, status, score.note]))


# --- below the table --------------------------------------------------------------------------------------------------
def legend(cells: Sequence[Cell]) -> Iterator[str]:
    """How to read the published numbers of a table; only what occurs."""
    if any(map(verdict, cells)):
        yield (
            f"Difference: OK within the tolerance of the published number, near within {NEAR} times that, else FAIL"
            f" (bold). {_counts(cells)}"
        )
    if notes := _by_note(cells):
        yield f"{NOTED}: what may move the number and changes no verdict: {_listed(notes)}."
    if any(len(cell.published) > 1 for cell in cells):
        yield (
            "×n: published n times. Shown is a number that was read at its source, of the revision that we have, with"
            " the smallest tolerance, whichever is nearer to ours; a cell of the HTML page and the CSV have all, each"
            " with its verdict."
        )
    if any(map(judges_nothing, cells)):
        yield "Grey (slanted): the source was not read itself, or is not verified; it judges nothing."
    reasons = _by_reason(cells)
    if reasons:
        yield f"{INCOMPARABLE}: not comparable: {_listed(reasons)}."
    saw = _by_questions(cell for cell in cells if cell.seen and (cell.shows_number or cell.published))
    if saw:
        listed = "; ".join(f"of {', '.join(names)}: {_rows(rows)}" for names, rows in saw.items())
        yield f"{SEEN}: the model saw training questions {listed}."


def _counts(cells: Sequence[Cell]) -> str:
    counts = {state: sum(verdict(cell) == state for cell in cells) for state in JUDGED}
    return f"Here {', '.join(f'{count} {state}' for state, count in counts.items())}."


def _by_reason(cells: Iterable[Cell]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = defaultdict(list)
    for cell in filter(incomparable, cells):
        reasons[cell.published[0].why].append(cell.row.label)
    return reasons


def _by_note(cells: Iterable[Cell]) -> dict[str, list[str]]:
    notes: dict[str, list[str]] = defaultdict(list)
    for cell in filter(verdict, cells):
        for text in cell.published[0].notes:
            notes[text].append(cell.row.label)
    return notes


def _listed(reasons: dict[str, list[str]]) -> str:
    return "; ".join(f"{why} ({_rows(rows)})" for why, rows in reasons.items())


def _by_questions(cells: Iterable[Cell]) -> dict[tuple[str, ...], list[str]]:
    saw: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for cell in cells:
        setting = cell.reference.setting if cell.reference else SETTING
        saw[cell.seen].append(cell.row.label if setting == SETTING else f"{cell.row.label} ({setting})")
    return saw


def _rows(labels: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(labels))
