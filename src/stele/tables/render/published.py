"""Marks, facts and legend of published numbers in tables of today's encoders."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from stele.papers.table_parts import Report
from stele.published.verdicts import NEAR, SETTING, Verdict
from stele.tables.values import numbers
from stele.tables.values.cell import Cell

SEEN = "†"
INCOMPARABLE = "≠"
NOTED = "*"
JUDGED = ("OK", "near", "FAIL")


def verdict(cell: Cell) -> str:
    """Verdict against the shown published number: OK, near or FAIL; "" if there is no such verdict."""
    state = cell.published[0].state if cell.published else ""
    return state if state in JUDGED else ""


def verdict_mark(cell: Cell) -> str:
    """Raised mark of a difference: the verdict, and a star if a note names something that may change the number."""
    state = verdict(cell)
    return f"{state}{NOTED}" if state and cell.published[0].notes else state


def incomparable(cell: Cell) -> bool:
    """Whether our number and the shown published one measure different things."""
    return bool(cell.published) and cell.published[0].state == "not comparable"


def judges_nothing(cell: Cell) -> bool:
    """Whether the shown published number was not read at its source; it is set in grey."""
    return bool(cell.published) and not cell.published[0].published.judges


def marks(cell: Cell) -> Iterator[str]:
    """Yields the raised marks of a cell's published number."""
    if incomparable(cell):
        yield INCOMPARABLE
    if len(cell.published) > 1:
        yield f"×{len(cell.published)}"
    if cell.seen and not cell.measured:
        yield SEEN


def facts(cell: Cell) -> dict[str, str]:
    """Texts by name for an unfolded cell: published numbers with verdicts, and benchmarks the model trained on."""
    facts = {}
    for place, verdict in enumerate(cell.published, start=1):
        name = "published" if len(cell.published) == 1 else f"published {place}"
        facts[name] = _fact(verdict, cell.report)
    return facts | {"saw training questions of": ", ".join(cell.seen)}


def _fact(verdict: Verdict, report: Report) -> str:
    score = verdict.published
    text = f"{numbers.ours(score.value, report)} (unrounded {score.value!r}, tolerance {score.tolerance!r})"
    if verdict.ours is not None:
        difference = numbers.shown_difference(verdict.ours, float(numbers.scaled(score.value, report)), report)
        text += f": {verdict.state}" + (f", {verdict.why}" if verdict.why else f", {difference}")
    revision = score.model_revision and f"revision {score.model_revision[:12]}"
    status = "" if score.judges else f"{score.status}, so no verdict"
    return "; ".join(filter(None, [text, *verdict.notes, score.source, score.locator, revision, status, score.note]))


# --- below the table --------------------------------------------------------------------------------------------------
def legend(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields the legend of a table's published numbers; it explains only marks that the table shows."""
    if any(map(verdict, cells)):
        counts = {state: sum(verdict(cell) == state for cell in cells) for state in JUDGED}
        yield (
            f"Difference: OK within the tolerance of the published number, near within {NEAR} times that, else FAIL"
            f" (bold). Here {', '.join(f'{count} {state}' for state, count in counts.items())}."
        )
    if notes := _listed((note, cell.row.label) for cell in filter(verdict, cells) for note in cell.published[0].notes):
        yield f"{NOTED}: possible causes of a difference, which change no verdict: {notes}."
    if any(len(cell.published) > 1 for cell in cells):
        yield (
            "×n: published n times. The choice of the number that the table shows does not depend on ours: it prefers"
            " numbers that were read at their source, of our revision and with the smallest tolerance; the HTML page's"
            " cells and the CSV have all of them with their verdicts."
        )
    if any(map(judges_nothing, cells)):
        yield "Grey (slanted): the source itself was not read or is not verified, so there is no verdict."
    if reasons := _listed((cell.published[0].why, cell.row.label) for cell in filter(incomparable, cells)):
        yield f"{INCOMPARABLE}: not comparable: {reasons}."
    saw = [cell for cell in cells if cell.seen and (cell.shows_number or cell.published)]
    if saw:
        listed = _grouped((f"of {', '.join(cell.seen)}", _with_setting(cell)) for cell in saw)
        yield f"{SEEN}: the model saw training questions {'; '.join(map(': '.join, listed.items()))}."


def _grouped(rows: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Groups pairs (text, label of a row) by text, with the labels joined."""
    labels: dict[str, dict[str, None]] = defaultdict(dict)
    for text, label in rows:
        labels[text][label] = None
    return {text: ", ".join(of_text) for text, of_text in labels.items()}


def _listed(rows: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{text} ({labels})" for text, labels in _grouped(rows).items())


def _with_setting(cell: Cell) -> str:
    setting = cell.reference.setting if cell.reference else SETTING
    return cell.row.label if setting == SETTING else f"{cell.row.label} ({setting})"
