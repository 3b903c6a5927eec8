"""Layout of cells as a grid of texts and marks, the same for every format.

It has four views: `side` (our number, the paper's and, if the two can be compared, their difference, one below the
other), `difference` (the same with every difference), `ours` and `paper`. Numbers stand in their own column.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import groupby
from typing import Literal, TypeVar

from stele.papers.table import Table, footnote_numbers
from stele.papers.table_parts import Column
from stele.tables.render import published
from stele.tables.values import numbers
from stele.tables.values.cell import Cell
from stele.tables.values.lookup import STATES
from stele.tables.values.significance import BETTER, Comparisons, FilledTable, Rank, rank

T = TypeVar("T")
View = Literal["side", "difference", "ours", "paper"]
VIEWS: tuple[View, ...] = ("side", "difference", "ours", "paper")
SEVERAL: tuple[View, ...] = ("side", "difference")  # views with separate lines for our numbers and the paper's
BORROWED_ONLY = {"borrowed", "unavailable"}
FAIL = "fail"  # CCP prints it in place of a number
MISSING = "—"


@dataclass(frozen=True)
class Box:
    """One place of the grid. `text` is plain and escaped by each format; `raised` follows it as a superscript.

    `number`: the text is a number (or a dash in its place), in which a hyphen is a minus. `address`: the cell that the
    box unfolds to; side by side only the first line of each cell has it.
    """

    text: str = ""
    raised: str = ""
    number: bool = True
    bold: bool = False
    underlined: bool = False
    grey: bool = False
    address: str = ""

    @property
    def signed(self) -> str:
        """The text, with minus signs for the hyphens of a number."""
        return self.text.replace("-", "−") if self.number and len(self.text) > 1 else self.text


@dataclass(frozen=True)
class GridLine:
    """One line of the grid: its stubs (labels of row and line, whose numbers; empty if repeated) and its boxes."""

    stubs: list[Box]
    boxes: list[Box]
    starts_row: bool
    whose: str = ""  # numbers: ours, paper, published or diff.


@dataclass(frozen=True)
class Section:
    """A group of rows under its heading."""

    heading: str
    lines: list[GridLine]

    def rows(self) -> list[list[GridLine]]:
        """Lines of the section, grouped by row."""
        starts = [i for i, line in enumerate(self.lines) if line.starts_row]
        return [self.lines[a:b] for a, b in zip(starts, [*starts[1:], len(self.lines)], strict=True)]


@dataclass(frozen=True)
class Grid:
    """A view of a table, ready for a format."""

    stub: list[str]
    columns: list[Column]
    headers: list[Box]
    sections: list[Section]

    @property
    def lines(self) -> list[GridLine]:
        return [line for section in self.sections for line in section.lines]

    @property
    def groups(self) -> list[tuple[str, int, int]]:
        """Headers above columns, "" for none: text, first column (from 1, stubs included), number of columns."""
        groups, first = [], len(self.stub) + 1
        for text, columns in groupby(self.columns, key=lambda column: column.group):
            groups.append((text, first, len(list(columns))))
            first += groups[-1][2]
        return groups

    @cached_property
    def _by_column(self) -> list[list[Box]]:
        return [[line.boxes[index] for line in self.lines] for index in range(len(self.columns))]

    @cached_property
    def numeric(self) -> list[bool]:
        """Whether each column holds more numbers than words, so that it is right-aligned."""
        return [_more_numbers(boxes) for boxes in self._by_column]

    @cached_property
    def marks(self) -> list[str]:
        """Longest raised mark of each column of numbers; "" for a column of words."""
        columns = zip(self._by_column, self.numeric, strict=True)
        return [max((box.raised for box in boxes), key=len, default="") if number else "" for boxes, number in columns]


def _more_numbers(boxes: Sequence[Box]) -> bool:
    words = sum(bool(box.text) and not box.number for box in boxes)
    return not words or words < sum(box.number and any(map(str.isdigit, box.text)) for box in boxes)


def shown(grids: Iterable[Grid], whose: str) -> list[Box]:
    """Boxes of all views in lines that show the numbers of `whose`."""
    return [box for grid in grids for line in grid.lines if line.whose == whose for box in line.boxes]


@dataclass(frozen=True)
class Marks:
    """Marks of a view beside its numbers: ranks by address, tests, printed units by column, footnotes by place."""

    view: View
    ranks: dict[str, Rank]
    tests: Comparisons
    units: dict[str, str]
    noted: dict[str, list[int]]


def build(filled: FilledTable, view: View) -> Grid:
    """Builds the grid of one view of a table."""
    table, cells = filled.table, filled.cells
    marks = Marks(view, rank(cells), filled.tests, _units(cells), footnote_numbers(table))
    sections = []
    for _, of_group in groupby(cells, key=lambda cell: cell.group.key):
        rows = [list(row) for _, row in groupby(of_group, key=lambda cell: cell.row.key)]
        if lines := [line for row in rows for line in _row_lines(row, marks)]:
            sections.append(Section(rows[0][0].group.label, lines))
    headers = [Box(c.header, raised=raised_text(marks.noted[f"*/*/*/{c.key}"]), number=False) for c in table.columns]
    return Grid(_stubs(table, view, table.stub, table.lines_header, ""), table.columns, headers, sections)


def raised_text(notes: Sequence[int], marks: str = "") -> str:
    """Joins marks and footnote numbers into one raised text."""
    return ",".join([*([marks] if marks else []), *map(str, notes)])


@lru_cache(maxsize=2)  # every format of a table asks for them
def grids_of(filled: FilledTable) -> dict[View, Grid]:
    """Grids of the views that differ from each other; `ours` needs a measured cell, and a stated table has one view."""
    useful = {
        "side": True,
        "difference": any(delta_of(cell) is not None and not cell.comparable for cell in filled.cells),
        "ours": any(cell.measured for cell in filled.cells),
        "paper": filled.table.kind == "result",
    }
    return {view: build(filled, view) for view in VIEWS if useful[view]}


def _stubs(table: Table, view: View, label: T, line: T, whose: T) -> list[T]:
    """Selects the stub columns of a table: line labels if it has any, `whose` only in views with several lines."""
    with_lines = any(line.label for line in table.lines)
    return [label, *([line] if with_lines else []), *([whose] if view in SEVERAL and table.kind == "result" else [])]


def _row_lines(row: list[Cell], marks: Marks) -> list[GridLine]:
    """Lines of one row in a view; empty in the paper's view for a row without printed or published numbers."""
    table, added, view = row[0].table, row[0].extra, marks.view
    if view == "paper" and all(cell.printed is None for cell in row):
        return []
    marks_of_row = raised_text(marks.noted[f"{row[0].group.key}/{row[0].row.key}/*/*"], "+" if added else "")
    lines: list[GridLine] = []
    for _, cells in groupby(row, key=lambda cell: cell.line.key):
        cells = list(cells)
        for position, whose in enumerate(_whose(row, view)):
            label = Box() if lines else Box(row[0].row.label, raised=marks_of_row, number=False)
            boxes = [_box(cell, whose, marks) for cell in cells]
            if position == 0:  # the place that unfolds
                boxes = [replace(b, address=c.address) if b.text else b for b, c in zip(boxes, cells, strict=True)]
            if whose in ("published", "diff.") and not any(box.text for box in boxes):
                continue
            name = Box(cells[0].line.label if position == 0 else "", number=False)
            stubs = _stubs(table, view, label, name, Box(whose, number=False))
            lines.append(GridLine(stubs, boxes, not lines, whose))
    return lines


def _whose(row: list[Cell], view: View) -> list[str]:
    """Lists whose numbers a row shows: side by side all three, or only the paper's in a row that we do not measure.

    Columns of counts (parameters) are ignored here: a borrowed row with our count shows it in the view `ours`.
    """
    if view not in SEVERAL:
        return [view]
    states = {cell.outcome.state for cell in row if cell.direction != "none"} or {cell.outcome.state for cell in row}
    if all(cell.printed is None for cell in row):
        return ["ours"]
    if row[0].table.of_today:
        return ["ours", "published", "diff."]
    if states == {"stated"}:
        return ["paper"]
    return ["paper"] if "borrowed" in states and states <= BORROWED_ONLY else ["ours", "paper", "diff."]


def _box(cell: Cell, whose: str, marks: Marks) -> Box:
    if whose == "ours":
        return _ours(cell, marks)
    if whose == "diff.":
        return _difference(cell, marks) if marks.view == "difference" or cell.comparable else Box()
    return _paper(cell, marks.noted)


def _ours(cell: Cell, marks: Marks) -> Box:
    """Box of our number with its marks, an incomplete average's languages and the deviation over seeds; or the state.

    Footnotes stand at the printed number, or here if there is none.
    """
    notes = marks.noted[cell.address] if cell.printed is None else []
    if not cell.measured:
        return Box(MISSING, raised=raised_text(notes, STATES[cell.outcome.state].letter))
    if not cell.shows_number:
        raised_number = f"({numbers.ours(cell.outcome.value, cell.report)})"
        return Box(FAIL, raised=raised_text(notes, raised_number), number=False)
    raised = [] if cell.complete else [f"{len(cell.outcome.languages)}/{len(cell.reference.languages)}"]
    if cell.outcome.deviation is not None:
        raised.append(f"±{numbers.ours(cell.outcome.deviation, cell.report)}")
    tested, ranked = marks.tests.cells.get(cell.address), marks.ranks.get(cell.address)
    if tested and tested.better:
        raised.insert(0, BETTER)
    raised += [published.SEEN] if cell.seen else []
    shown = numbers.count if cell.direction == "none" else numbers.ours
    text = numbers.grouped(shown(cell.outcome.value, cell.report)) + marks.units.get(cell.column.key, "")
    return Box(text, raised=raised_text(notes, " ".join(raised)), bold=ranked == "best", underlined=ranked == "second")


def _paper(cell: Cell, noted: dict[str, list[int]]) -> Box:
    """Box of the printed number with its printed marks and difference and our footnotes."""
    if cell.printed is None:
        return Box()
    unit, symbols = unit_and_marks(cell.printed.marks)
    value, raised = cell.printed.value, raised_text(noted[cell.address], symbols + printed_difference(cell))
    if cell.published:
        raised = " ".join(filter(None, [raised, *published.marks(cell)]))
    if value is None:
        return Box("-", raised=raised)
    if isinstance(value, str):
        return Box(value, raised=raised, number=False, bold=cell.printed.bold)
    text = numbers.grouped(numbers.printed(value, cell.report)) + unit
    return Box(text, raised=raised, bold=cell.printed.bold, grey=published.judges_nothing(cell))


def unit_and_marks(marks: str) -> tuple[str, str]:
    """Splits printed marks into unit and raised marks: thousands, millions and billions are units; other letters are
    raised, as those that name the rows which a row is significantly better than.

    >>> unit_and_marks("K"), unit_and_marks("k (EN)"), unit_and_marks("*"), unit_and_marks("ab")
    (('K', ''), ('k', '(EN)'), ('', '*'), ('', 'ab'))
    """
    unit = re.match("[kKMB](?![A-Za-z])|", marks)
    return unit[0], marks[unit.end() :].strip()


def _units(cells: Sequence[Cell]) -> dict[str, str]:
    """Unit of all printed numbers of each column, which our numbers get too."""
    by_column: dict[str, set[str]] = {}
    for cell in cells:
        if cell.printed and isinstance(cell.printed.value, float):
            by_column.setdefault(cell.column.key, set()).add(unit_and_marks(cell.printed.marks)[0])
    return {key: next(iter(units)) for key, units in by_column.items() if len(units) == 1}


def printed_difference(cell: Cell) -> str:
    """The difference from another row as the paper prints it after its number, in brackets; "" without one."""
    if cell.printed is None or cell.printed.difference is None:
        return ""
    return f"({numbers.signed(Decimal(repr(cell.printed.difference)), cell.report)})".replace("-", "−")


def _difference(cell: Cell, marks: Marks) -> Box:
    """Box of the difference, ours minus the paper's; empty if either is missing or our average is incomplete."""
    text = difference_text(cell)
    if not text:
        return Box()
    text = numbers.grouped(text) + marks.units.get(cell.column.key, "")
    return Box(
        text,
        raised=published.verdict_mark(cell),
        bold=published.verdict(cell) == "FAIL",
        grey=published.judges_nothing(cell),
    )


def difference_text(cell: Cell) -> str:
    """Formats the difference as a table shows it; "" without one."""
    if delta_of(cell) is None:
        return ""
    return numbers.shown_difference(cell.outcome.value, cell.printed.value, cell.report)


def delta_of(cell: Cell) -> Decimal | None:
    """Difference, ours minus the paper's, in the paper's units; None if they cannot be compared.

    Differences for generated data and stand-ins are shown only in the view `difference`.
    """
    if cell.comparable and published.incomparable(cell):
        return None
    if cell.printed is None or not isinstance(cell.printed.value, float) or not (cell.complete and cell.shows_number):
        return None
    return numbers.difference(cell.outcome.value, cell.printed.value, cell.report)
