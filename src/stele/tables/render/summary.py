"""Text below a table: labels, states with their reasons, a legend, footnotes, the commands that build it."""

import re
import statistics
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stele.evaluation.metrics import load_metric
from stele.files.formats import amount
from stele.papers.table import Table
from stele.papers.table_parts import Footnote
from stele.tables.render import published
from stele.tables.render.cell_details import RowTargets, command, row_targets
from stele.tables.render.jinja import Words, words_of
from stele.tables.render.layout import FAIL, MISSING, Box, Grid, delta_of, shown
from stele.tables.values import numbers
from stele.tables.values.cell import Cell, count_text, counted
from stele.tables.values.context import Context
from stele.tables.values.lookup import STATES
from stele.tables.values.significance import BETTER, Comparisons, FilledTable, at_guess, comparable_sets

EXPECTED = ("not run", "not built")  # states with many similar reasons
SHOWN = 5  # most reasons shown for them
Rows = TypeVar("Rows", bound=Hashable)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PATH = re.compile(r"\S*/(\S+\.(?:parquet|json|csv))")


@dataclass(frozen=True)
class StateNote:
    """One state of the table's cells: their number, the state's meaning, and reason -> labels of rows.

    `mark` is the letter beside a missing number, "" if the table shows none; the state `measured` has no `meaning`.
    """

    name: str
    count: int
    mark: str
    meaning: str
    reasons: dict[str, list[str]]


@dataclass(frozen=True)
class Summary:
    """All text below a table, not yet escaped. `count`, `cells` (in words) and the states count `counted` cells."""

    title: str
    caption: str
    labels: list[str]
    count: int
    cells: str
    states: list[StateNote]
    legend: list[str]
    marks: dict[str, str]
    footnotes: list[Footnote]
    command: str
    rows: list[RowTargets]
    words: Words

    @property
    def counts(self) -> str:
        """Number of cells in each state, as text."""
        return ", ".join(f"{state.count} {state.name}" for state in self.states if state.count)


def summarise(filled: FilledTable, grids: Collection[Grid]) -> Summary:
    """Writes the summary of one table; it explains the marks that the table's views, `grids`, show."""
    table, cells = filled.table, filled.cells
    # a mark stands alone at a cell or beside others
    marks = {mark for cell in cells if cell.printed for mark in (cell.printed.marks, *cell.printed.marks)}
    return Summary(
        title=f"{table.about.name}, Table {table.number}",
        caption=table.caption,
        labels=_labels(table, cells, filled.context),
        count=len(counted(cells)),
        cells=count_text(cells),
        states=_states(cells, grids),
        legend=_legend(cells, filled.context, filled.tests, grids),
        marks={mark: meaning for mark, meaning in table.marks.items() if mark in marks},
        footnotes=table.footnotes,
        command=command(filled.results, [filled.results.folder / "tables" / f"{table.file}.md"]),
        rows=row_targets(cells, filled.results),
        words=words_of(table),
    )


def _labels(table: Table, cells: Sequence[Cell], context: Context) -> list[str]:
    """Labels of our numbers, with a warning that generated data and stand-ins reproduce no paper's numbers."""
    measured = [cell for cell in cells if cell.measured]
    texts = [_label(label, measured) for label in sorted({name for cell in measured for name in cell.outcome.labels})]
    if not all(cell.comparable for cell in measured):
        texts.append(f"{words_of(table).not_theirs}: scale {context.scale or 'not given'}")
    return texts


def _label(label: str, measured: Sequence[Cell]) -> str:
    """Formats a label, with the number of measured cells that bear it unless all do."""
    parts = []
    for added, where in ((False, "measured cells"), (True, "in added rows")):
        of_kind = [cell for cell in measured if cell.extra == added]
        bearing = sum(label in cell.outcome.labels for cell in of_kind)
        parts.append((bearing, len(of_kind), f"{bearing} of the {len(of_kind)} {where}"))
    if all(bearing == count for bearing, count, _ in parts):
        return label
    return f"{label} ({', '.join(text for _, count, text in parts if count)})"


def _states(cells: Sequence[Cell], grids: Collection[Grid]) -> list[StateNote]:
    notes, missing = [], {box.raised.partition(",")[0] for box in shown(grids, "ours") if box.text == MISSING}
    rows = {_row(cell) for cell in cells}
    for state in STATES.values():
        of_state = [cell for cell in cells if cell.outcome.state == state.name]
        if of_state:
            mark = state.letter if state.letter in missing else ""
            meaning = "" if state.name == "measured" else state.meaning
            notes.append(StateNote(state.name, len(counted(of_state)), mark, meaning, _reasons(of_state, rows)))
    return notes


def _row(cell: Cell) -> tuple[str, str]:
    return cell.row.label, cell.group.label


def _reasons(cells: Sequence[Cell], table_rows: Collection[tuple[str, str]]) -> dict[str, list[str]]:
    """Labels of rows by the reason that their cells give; similar reasons are merged. `table_rows`: all of a table."""
    rows: dict[str, dict[tuple[str, str], None]] = {}
    for cell in cells:
        if cell.outcome.reason:
            rows.setdefault(without_paths(cell.outcome.reason), {})[_row(cell)] = None
    named = {reason: _labels_of(rows_of, {*table_rows} - rows_of.keys()) for reason, rows_of in rows.items()}
    notes = {reason: list(rows_of) for reason, rows_of in by_rows(named).items()}
    if cells[0].outcome.state in EXPECTED and len(notes) > SHOWN + 1:
        rest = list(notes)[SHOWN:]
        notes = {reason: notes[reason] for reason in notes if reason not in rest}
        notes["each cell of the HTML page has its own reason"] = [f"{len(rest)} more"]
    return notes


def _labels_of(rows: Collection[tuple[str, str]], others: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """Labels of rows, each once; with their groups if `others`, the rest of the table, have rows of the same labels."""
    if not others:
        return ("all rows",)
    shared = {label for label, _ in others}
    whole = {group for label, group in rows if label in shared} - {"", *(group for _, group in others)}
    names = (
        ("all rows", group) if group in whole else (label, group if label in shared else "") for label, group in rows
    )
    return tuple(dict.fromkeys(f"{label} under {group}" if group else label for label, group in names))


def _legend(cells: Sequence[Cell], context: Context, tests: Comparisons, grids: Collection[Grid]) -> list[str]:
    """Legend of our numbers; it explains only marks that the table shows."""
    if not any(cell.measured for cell in cells):
        return list(published.legend(cells))
    ours, stubs = shown(grids, "ours"), [line.stubs[0] for grid in grids for line in grid.lines]
    texts = [*_ranks(cells, ours), *_unmarked(cells)]
    if any("/" in box.raised for box in ours):
        whose = "its" if cells[0].table.of_today else "the paper's"
        texts.append(f"k/n: our average covers k of {whose} n languages, so no difference is shown.")
    if context.view == "side" and any(delta_of(cell) is not None and not cell.comparable for cell in cells):
        texts.append(
            f"Differences{'' if cells[0].table.of_today else ' from the paper'} are not shown for generated data and"
            " stand-ins, where they mean nothing; --difference and a view of the HTML page show them."
        )
    if failed := _failed(cells):
        texts.append(f"{FAIL}: the pretraining diverged; our number is raised and in brackets. {failed}.")
    if any("±" in box.raised for box in ours):
        seeds = {seed_words(cell.outcome.averaged) for cell in cells if cell.outcome.deviation is not None}
        texts.append(f"±: standard deviation over {' or '.join(sorted(seeds))}; each number is the mean over them.")
    if tests.method:
        marked = any(BETTER in box.raised for box in ours)
        spread = " The test is over queries; it ignores the spread over seeds." if "±" in str(texts) else ""
        texts.append(f"{f'{BETTER}:' if marked else 'No row is significantly'} {tests.method}.{spread}")
    if tests.untested:
        untested = "; ".join(merged(map(without_paths, tests.untested)))
        texts.append(f"Not tested for significance: {untested}.")
    if any(label.raised.startswith("+") for label in stubs):
        texts.append(
            "+: a row of your own model." if cells[0].table.of_today else "+: a row that the paper does not have."
        )
    printed = [cell.printed for cell in cells if cell.printed and not cell.table.of_today]
    if signs := [name for name in ("marks", "bold") if any(getattr(value, name) for value in printed)]:
        texts.append(f"Paper: {' and '.join(signs)} {'is' if signs == ['bold'] else 'are'} as printed.")
    return [*texts, *published.legend(cells)]


def seed_words(names: Sequence[str]) -> str:
    """Describes seeds, given by their names, in words.

    >>> seed_words(["pt0-ft0", "pt0-ft1", "pt1-ft0", "pt1-ft1"]), seed_words(["pt0-ft0", "pt0-ft1"])
    ('2 × 2 seeds (pretraining × fine-tuning)', '2 seeds of fine-tuning')
    """
    pretraining, finetuning = (len({name.split("-")[side] for name in names}) for side in (0, 1))
    if not names or pretraining * finetuning != len(names):
        return amount(len(names), "seed") if names else "seeds"
    if pretraining > 1 and finetuning > 1:
        return f"{pretraining} × {finetuning} seeds (pretraining × fine-tuning)"
    several, what = (pretraining, "pretraining") if pretraining > 1 else (finetuning, "fine-tuning")
    return f"{amount(several, 'seed')} of {what}"


def _ranks(cells: Sequence[Cell], ours: Sequence[Box]) -> Iterator[str]:
    """Yields the meaning of bold and of underlined numbers."""
    signs = []
    if any(box.bold for box in ours):
        signs.append("bold is best")
    if any(box.underlined for box in ours):
        signs.append("underlined second-best")
    if not signs:
        return
    lower = dict.fromkeys(_place(cell) for cell in cells if cell.direction == "lower")
    which = ": " + ", ".join(lower) if any(cell.direction == "higher" for cell in cells) else ""
    where = f" (lower is better{which})" if lower else ""
    yield f"Ours: {' and '.join(signs)} of a column's comparable rows, by unrounded values; all ties are marked{where}."


def _unmarked(cells: Sequence[Cell]) -> Iterator[str]:
    """Yields the columns in which no row is significantly above chance, grouped by the kind of guess."""
    sets = defaultdict(dict)
    for comparable in filter(at_guess, comparable_sets(cells)):
        cell = comparable[0]
        group = cell.group.label if cell.table.compare == "group" else ""
        place = f"{group} {_place(cell)}".strip()
        guessed = load_metric(cell.reference.metric).guessed
        sets[guessed][place] = numbers.ours(statistics.fmean(cell.outcome.guess[0] for cell in comparable), cell.report)
    for guessed, places in sets.items():
        listed = ", ".join(f"{place} ({guess})" for place, guess in places.items())
        yield f"No row is significantly above {guessed} (score in brackets), so none is marked, in {listed}."


def _place(cell: Cell) -> str:
    """Line and column of a cell, as its table names them."""
    return " ".join(filter(None, (cell.line.label, cell.column.group, cell.column.header)))


def _failed(cells: Sequence[Cell]) -> str:
    """Signs of divergence behind the cells that read `fail`, each once; the cells themselves name theirs."""
    failed = [cell for cell in cells if cell.measured and not cell.shows_number]
    signs = [cell.outcome.reason.replace(f"{cell.reference.model}: ", "") for cell in failed]
    return "; ".join(merged(sign.removeprefix("pretraining diverged: ") for sign in signs))


# --- reasons ----------------------------------------------------------------------------------------------------------
def merged(texts: Iterable[str]) -> list[str]:
    """Merges similar texts: numbers that differ become a range, and words that differ at one place a list.

    >>> merged(["no vectors of de-es", "no vectors of de-fr", "a loss of 4.7", "a loss of 18.3"])
    ['no vectors of de-es, de-fr', 'a loss of 4.7 to 18.3']
    """
    groups: list[list[list[str]]] = []
    for text in dict.fromkeys(texts):
        words = text.split(" ")
        group = next((group for group in groups if _alike([*group, words])), None)
        if group is None:
            groups.append([words])
        else:
            group.append(words)
    return [" ".join(map(_word, zip(*group, strict=True))) for group in groups]


def by_rows(reasons: Mapping[str, Rows]) -> dict[str, Rows]:
    """Merges similar reasons of the same rows: reason -> rows."""
    together: dict[Rows, list[str]] = {}
    for reason, rows in reasons.items():
        together.setdefault(rows, []).append(reason)
    return {reason: rows for rows, texts in together.items() for reason in merged(texts)}


def without_paths(text: str) -> str:
    """Removes the paths of files from an error, since the rows are named beside it.

    >>> without_paths("results/a/queries.parquet: lacks 8 queries that results/b/queries.parquet has")
    'lacks 8 queries that the other has'
    """
    text = re.sub(rf"(^|: ){_PATH.pattern}: ", r"\1", text)
    return _PATH.sub(r"\1", re.sub(rf"that {_PATH.pattern} has", "that the other has", text))


def _alike(group: list[list[str]]) -> bool:
    """Whether texts have equally many words and differ, apart from numbers, in at most one word, not the first."""
    if len({len(words) for words in group}) > 1:
        return False
    shapes = [{_NUMBER.sub("0", word) for word in words} for words in zip(*group, strict=True)]
    different = [place for place, shape in enumerate(shapes) if len(shape) > 1]
    return len(different) <= 1 and 0 not in different


def _word(words: Iterable[str]) -> str:
    """Merges the words at one place of several texts: the word, the range of its number, or a list of the words."""
    different = list(dict.fromkeys(words))
    values = [_NUMBER.findall(word) for word in different]
    if len(different) > 1 and len({_NUMBER.sub("0", word) for word in different}) == 1 and len(values[0]) == 1:
        numbers_there = [number for (number,) in values]
        lowest, highest = min(numbers_there, key=float), max(numbers_there, key=float)
        return different[0].replace(values[0][0], f"{lowest} to {highest}")
    return ", ".join(different)
