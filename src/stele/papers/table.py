"""A paper's table as data: the model of `paper_tables/{paper}/table_NN.yaml`. Unknown keys and addresses are refused.

A table has groups of rows over columns; a row prints one or more lines (one metric each). A cell's *target* names our
value for it; it is merged from table, group, row, line, column and the row's entry for that cell, the later one
winning. A cell's address is `group/row/line/column`, each by key, where the column is the one that its number belongs
to; footnotes and known deviations name addresses, `*` and `?` allowed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from stele.errors import SteleError
from stele.papers.paper import FILE, TODAY, PaperPart, read_part, repeated
from stele.papers.table_parts import (
    CellSource,
    Column,
    Deviation,
    Direction,
    Footnote,
    Group,
    Line,
    Printed,
    Report,
    Seeds,
    Significance,
    Source,
    TableRow,
    Target,
    merge,
    resolve,
)

# words that are a number with signs around it, or a dash
_NUMBER = re.compile(r"\W*\d+([.,]\d+)*\W*(±.*)?|[-–—−]+")


class Table(PaperPart):
    """One table of a paper, or of today's encoders, for which no paper prints numbers."""

    KIND = "table"

    kind: Literal["result", "stated"] = Field(
        "result", description="result: numbers that runs measure; stated: words and facts that no run measures"
    )
    counted: bool = Field(True, description="false: the table explains words, and its entries are not counted as cells")
    caption: str = Field(description="caption in our words")
    stub: str = Field(description="header of the column of row labels")
    lines_header: str = Field("", description="header of the column of line labels")
    report: Report = Field(Report(), description="format of numbers, unless a column or line has its own")
    direction: Direction = Field(
        "higher", description="whether higher or lower numbers are better, unless a column or line says otherwise"
    )
    compare: Literal["group", "table"] = Field(
        "group", description="rows among which best and second-best are chosen: those of a group, or of the table"
    )
    variants: bool = Field(
        False, description="true: rows are variants of one model; other models get a row only if they name the table"
    )
    significance: Significance = Significance()
    target: Target = Target()
    seeds: Seeds = Field(Seeds(), description="the table's own seeds, if the paper states them")
    marks: dict[str, str] = Field({}, description="printed mark -> its meaning in the paper")
    differences_from: str | None = Field(None, description="group/row with which the printed differences compare")
    sources: dict[str, Source] = Field({}, description="key -> source of borrowed numbers")
    relabel: dict[str, str] = Field(
        {}, description="column -> column to which the numbers printed under the first one belong"
    )
    columns: Annotated[list[Column], Field(min_length=1)]
    lines: Annotated[list[Line], Field(min_length=1)] = Field([Line(key="value")])
    groups: Annotated[list[Group], Field(min_length=1)]
    footnotes: list[Footnote] = Field([])
    deviations: list[Deviation] = Field([])

    @property
    def of_today(self) -> bool:
        """Whether ours are compared with published numbers (references.tsv) instead of printed ones."""
        return self.paper == TODAY

    def rows(self) -> Iterator[tuple[Group, TableRow]]:
        return ((group, row) for group in self.groups for row in group.rows)

    def cells(self) -> Iterator[TableCell]:
        """All cells, in printed order."""
        return (cell for group, row in self.rows() for cell in self.cells_of(group, row))

    def cells_of(self, group: Group, row: TableRow) -> Iterator[TableCell]:
        """The cells of a row of a group, which need not be among the table's."""
        return (TableCell(self, group, row, line, column) for line in self.lines for column in self.columns)

    @model_validator(mode="after")
    def _consistent(self) -> Table:
        for problem in _problems(self):
            raise ValueError(problem)
        return self


@dataclass(frozen=True)
class TableCell:
    """One cell of a table, from the table's spec. Every output shows its number in `column`."""

    table: Table
    group: Group
    row: TableRow
    line: Line
    column: Column

    @property
    def address(self) -> str:
        return f"{self.group.key}/{self.row.key}/{self.line.key}/{self.column.key}"

    @property
    def report(self) -> Report:
        return self.column.report or self.line.report or self.table.report

    @property
    def direction(self) -> Direction:
        return self.column.direction or self.line.direction or self.table.direction

    @cached_property
    def target(self) -> Target:
        """Target of the cell, merged from all levels; parts may be missing."""
        parts = (self.table, self.group, self.row, self.line, self.column)
        return merge([*(part.target for part in parts), self.row.targets.get(self.column.key, Target())])

    @cached_property
    def reference(self) -> CellSource | None:
        """Source of our value for the cell; None if no result of ours belongs there."""
        return resolve(self.target)

    @cached_property
    def printed_under(self) -> Column:
        """Column under which the paper prints the number; differs from `column` only if the paper exchanged two."""
        relabel = self.table.relabel if self.row.relabel is None else self.row.relabel
        return next(column for column in self.table.columns if relabel.get(column.key, column.key) == self.column.key)

    @cached_property
    def printed(self) -> Printed | None:
        """The printed content of the cell; None in a row that no paper prints."""
        entries = self.row.cells(self.line.key)
        if entries is None:
            return None
        entry = entries[self.table.columns.index(self.printed_under)]
        return entry if isinstance(entry, Printed) else Printed(value=entry)

    @property
    def number(self) -> float | None:
        """The printed number, None for words, a dash or nothing."""
        value = self.printed.value if self.printed else None
        return value if isinstance(value, float) else None

    @property
    def source(self) -> str | None:
        """Key of the source from which the paper borrowed the number; None for the paper's own number."""
        borrowed = self.row.borrowed
        return borrowed.get(self.printed_under.key) if isinstance(borrowed, dict) else borrowed


def matches(address: str, patterns: Iterable[str]) -> bool:
    """Whether an address matches one of the patterns, which may have `*` and `?` within each part."""
    parts = address.split("/")
    return any(
        len(parts) == len(wanted := pattern.split("/")) and all(map(fnmatchcase, parts, wanted)) for pattern in patterns
    )


def footnote_numbers(table: Table) -> dict[str, list[int]]:
    """Numbers of the footnotes by place: a column (`*/*/*/column`), a row or a cell's address.

    A note about a whole column or row goes to its header or label, any other note to cells.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for number, note in enumerate(table.footnotes, start=1):
        for place in dict.fromkeys(place for pattern in note.at for place in _noted_places(table, pattern)):
            places[place].append(number)
    return places


def _noted_places(table: Table, pattern: str) -> list[str]:
    group, row, line, column = pattern.split("/")
    if (group, row, line) == ("*", "*", "*"):
        return [f"*/*/*/{c.key}" for c in table.columns if fnmatchcase(c.key, column)]
    if (line, column) == ("*", "*"):
        return [f"{g.key}/{r.key}/*/*" for g, r in table.rows() if matches(f"{g.key}/{r.key}/x/x", [pattern])]
    return [cell.address for cell in table.cells() if matches(cell.address, [pattern])]


def _problems(table: Table) -> Iterator[str]:
    columns, lines = [c.key for c in table.columns], [line.key for line in table.lines]
    yield from repeated("column", columns)
    yield from repeated("line", lines)
    yield from repeated("group", (g.key for g in table.groups))
    yield from _problems_of_today(table) if table.of_today else ()
    for group, row in table.rows():
        where = f"row {group.key}/{row.key}"
        yield from () if table.of_today else _problems_of_printed(table, row, where)
        borrowed = row.borrowed if isinstance(row.borrowed, dict) else {}
        sources = borrowed.values() if borrowed else [row.borrowed] if row.borrowed else []
        for source in set(sources) - table.sources.keys():
            yield f"{where}: source {source!r} is not in `sources`"
        named = {*borrowed, *row.targets, *row.unavailable, *group.unavailable}
        named |= {*(row.relabel or {}), *(row.relabel or {}).values()}
        for key in sorted(named - set(columns)):
            yield f"{where}: {key!r} is not a column"
    for group in table.groups:
        yield from repeated(f"group {group.key}: row", (row.key for row in group.rows))
    for relabel in [table.relabel, *(row.relabel or {} for _, row in table.rows())]:
        if relabel.keys() != set(relabel.values()) or not relabel.keys() <= set(columns):
            yield f"`relabel` must exchange columns of this table; found {relabel}"
    for key, source in table.sources.items():
        if (source.table is None) != (source.row is None):
            yield f"source {key!r}: `table` and `row` go together"
    if table.differences_from not in {None, *(f"{group.key}/{row.key}" for group, row in table.rows())}:
        yield f"`differences_from`: no row {table.differences_from!r}"
    for cell in table.cells():
        decimals = cell.report.decimals
        if cell.number is not None and round(cell.number, decimals) != cell.number:
            yield f"{cell.address}: {cell.number} has more digits than its `report` shows (decimals: {decimals})"
        words = cell.printed.value if cell.printed and table.kind == "result" else None
        if isinstance(words, str) and _NUMBER.fullmatch(words):
            yield f"{cell.address}: {words!r} is read as words; want a number, its signs as `marks`, or null for a dash"
    addresses = [cell.address for cell in table.cells()]
    for pattern in [p for note in table.footnotes for p in note.at] + [d.at for d in table.deviations]:
        if not any(matches(address, [pattern]) for address in addresses):
            yield f"no cell has the address {pattern!r}; the first cell is {addresses[0]!r}"


def _problems_of_printed(table: Table, row: TableRow, where: str) -> Iterator[str]:
    columns, lines = [c.key for c in table.columns], [line.key for line in table.lines]
    if row.printed is None or (isinstance(row.printed, dict) and row.printed.keys() != set(lines)):
        yield f"{where}: `printed` must have the lines {', '.join(lines)}"
    if isinstance(row.printed, list) and len(lines) > 1:
        yield f"{where}: the table has {len(lines)} lines; give `printed` by line: {', '.join(lines)}"
    for line in lines:
        cells = row.cells(line) or []
        if len(cells) != len(columns):
            yield f"{where}, line {line}: {len(cells)} printed cells for {len(columns)} columns"
        for cell in (cell for cell in cells if isinstance(cell, Printed)):
            for mark in set() if cell.marks in table.marks else set(cell.marks) - table.marks.keys():
                yield f"{where}: mark {mark!r} is not explained in `marks`"
            if cell.difference is not None and table.differences_from is None:
                yield f"{where}: found a printed difference; name the row it is from in `differences_from`"


OF_PAPERS = ("marks", "differences_from", "sources", "relabel", "deviations")  # keys about what a paper prints


def _problems_of_today(table: Table) -> Iterator[str]:
    """Yields errors of a table of today's encoders: keys about print, and cells that name no value of ours."""
    for key in OF_PAPERS:
        if getattr(table, key):
            yield f"`{key}` describes a printed table, but no paper prints the tables of {TODAY!r}; leave it out"
    if table.kind != "result" or not table.counted:
        yield f"tables of {TODAY!r} must have kind `result` and count their cells"
    for group, row in table.rows():
        where = f"row {group.key}/{row.key}"
        if row.printed is not None or row.borrowed is not None or row.relabel is not None:
            yield f"{where}: published numbers stand in references.tsv: no `printed`, `borrowed` or `relabel` here"
        excused = {*row.unavailable, *group.unavailable}
        for cell in table.cells_of(group, row):
            if cell.column.key not in excused and cell.reference is None:
                yield f"{where}, column {cell.column.key}: a benchmark, model, setting, metric or language is missing"


def load_spec(path: Path | str) -> Table:
    """Reads the spec of a table. Raises SteleError, which names the file and the key, if it is invalid.

    A plan asks for each spec several times, so tables are cached by the bytes of their files.
    """
    folder = Path(path).resolve().parent
    files = [Path(path), folder / FILE]
    return _load(str(path), folder, *(file.read_bytes() if file.is_file() else None for file in files))


@lru_cache(maxsize=256)
def _load(path: str, folder: Path, *contents: bytes | None) -> Table:
    return read_part(Table, path)


def load_specs(folder: Path | str) -> list[Table]:
    """Reads all table specs of a folder of papers, or of one paper, sorted by paper and number.

    It reads the specs of today's encoders only if their own folder is named. Raises SteleError if there is no spec.
    """
    paths = sorted(Path(folder).glob("**/table_*.yaml"))
    if Path(folder).name != TODAY:
        paths = [path for path in paths if path.parent.name != TODAY]
    if not paths:
        raise SteleError(f"{folder}: found no table_NN.yaml; give a folder of papers or of one paper")
    return [load_spec(path) for path in paths]


def groups_for_extra_rows(table: Table) -> list[Group]:
    """Groups that an added row can join; of several groups with the same targets, the last.

    A row can join a group if the rows of the group add nothing but the model to a cell's target.
    """
    model = TableRow(key="model", label="", target=Target(model="model"))
    last = {repr(group.target): group for group in table.groups if table.kind == "result"}
    groups = [group for group in table.groups if group in last.values()]
    return [group for group in groups if any(cell.reference for cell in table.cells_of(group, model))]


def accepts_rows(table: Table) -> bool:
    """Whether a model that is added to all tables gets a row here; not if the rows are variants of one model."""
    return not table.variants and bool(groups_for_extra_rows(table))


def references(table: Table, recompute: str = "own", extra_models: Iterable[str] = ()) -> Iterator[CellSource]:
    """Yields the sources of all values that a table shows: own numbers, with "all" also borrowed ones, added rows."""
    extra = [TableRow(key="extra", label=model, target=Target(model=model)) for model in extra_models]
    rows = [*table.rows(), *((group, row) for group in groups_for_extra_rows(table) for row in extra)]
    for group, row in rows if table.kind == "result" else ():
        for cell in table.cells_of(group, row):
            if cell.reference and (recompute == "all" or not cell.source):
                yield cell.reference
