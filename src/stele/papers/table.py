"""A paper's table as data: the model of `paper_tables/{paper}/table_NN.yaml`. Unknown keys and addresses are refused.

A table is groups of rows over columns; a row prints one or more lines (one metric each). Which value of ours belongs to
a cell is its *target*, merged from table, group, row, line and column, and what the row says of that cell alone, the
later one winning. A cell's address is `group/row/line/column`, each by key, the column being the one that its
number belongs to; footnotes and known deviations name addresses, `*` and `?` allowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from stele.catalogue import read_yaml
from stele.errors import SteleError
from stele.files.strict import Strict, validate
from stele.papers.table_parts import (
    Column,
    Deviation,
    Direction,
    Footnote,
    Group,
    Line,
    Printed,
    Report,
    Row,
    Seeds,
    Significance,
    Source,
    Target,
)

PAPERS = {"msm": "MSM", "kept": "KEPT", "ccp": "CCP", "clir_lm": "CLIR LM", "dense_clt": "Dense CLT"}
TODAY = "today"  # the tables of today's encoders, which no paper prints: published numbers stand beside ours
NAMES = {**PAPERS, TODAY: "Today's encoders"}


class Table(Strict):
    """One table of a paper, or of today's encoders: such a one prints nothing."""

    paper: Literal["msm", "kept", "ccp", "clir_lm", "dense_clt", "today"]
    number: int = Field(ge=1)
    kind: Literal["result", "stated"] = Field("result", description="stated: words and facts that no run measures")
    counted: bool = Field(True, description="false: a list that explains words, whose entries are not counted as cells")
    caption: str = Field(description="in our words")
    stub: str = Field(description="header of the row labels")
    lines_header: str = Field("", description="header of the line labels")
    report: Report = Report()
    direction: Direction = "higher"
    compare: Literal["group", "table"] = Field("group", description="within what best and second-best are chosen")
    variants: bool = Field(False, description="rows are variants of one model; others join only by naming the table")
    significance: Significance = Significance()
    target: Target = Target()
    seeds: Seeds = Field(Seeds(), description="its own seeds, where the paper states them")
    marks: dict[str, str] = Field({}, description="printed mark -> what the paper says it means")
    differences_from: str | None = Field(None, description="group/row that the printed differences are from")
    sources: dict[str, Source] = Field({})
    relabel: dict[str, str] = Field(
        {}, description="column -> column: what is printed under the first belongs to the second"
    )
    columns: Annotated[list[Column], Field(min_length=1)]
    lines: Annotated[list[Line], Field(min_length=1)] = Field([Line(key="value")])
    groups: Annotated[list[Group], Field(min_length=1)]
    footnotes: list[Footnote] = Field([])
    deviations: list[Deviation] = Field([])

    @property
    def of_today(self) -> bool:
        """Whether published numbers (references.tsv) stand beside ours, in place of what a paper prints."""
        return self.paper == TODAY

    @property
    def id(self) -> str:
        """The table's short name: `msm/9`."""
        return f"{self.paper}/{self.number}"

    @property
    def file(self) -> str:
        """The table's path without its extension, below the folder of tables: `msm/table_09`."""
        return f"{self.paper}/table_{self.number:02d}"

    def rows(self) -> Iterator[tuple[Group, Row]]:
        return ((group, row) for group in self.groups for row in group.rows)

    def addresses(self) -> list[str]:
        """The addresses of all cells, in printed order."""
        return [
            f"{group.key}/{row.key}/{line.key}/{column.key}"
            for group, row in self.rows()
            for line in self.lines
            for column in self.columns
        ]

    @model_validator(mode="after")
    def _consistent(self) -> Table:
        for problem in _problems(self):
            raise ValueError(problem)
        return self


def matches(address: str, patterns: Iterable[str]) -> bool:
    """Whether an address is among the given ones, `*` and `?` within each part allowed."""
    parts = address.split("/")
    return any(
        len(parts) == len(wanted := pattern.split("/")) and all(map(fnmatchcase, parts, wanted)) for pattern in patterns
    )


def _repeated(kind: str, keys: Iterable[str]) -> Iterator[str]:
    yield from (f"{kind} {key!r} is given twice" for key, count in Counter(keys).items() if count > 1)


def _problems(table: Table) -> Iterator[str]:
    """What pydantic's types cannot say about a table."""
    columns, lines = [c.key for c in table.columns], [line.key for line in table.lines]
    yield from _repeated("column", columns)
    yield from _repeated("line", lines)
    yield from _repeated("group", (g.key for g in table.groups))
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
        yield from _repeated(f"group {group.key}: row", (row.key for row in group.rows))
    for relabel in [table.relabel, *(row.relabel or {} for _, row in table.rows())]:
        if relabel.keys() != set(relabel.values()) or not relabel.keys() <= set(columns):
            yield f"`relabel` must exchange columns of the table; found {relabel}"
    for key, source in table.sources.items():
        if (source.table is None) != (source.row is None):
            yield f"source {key!r}: `table` and `row` go together"
    if table.differences_from not in {None, *(f"{group.key}/{row.key}" for group, row in table.rows())}:
        yield f"`differences_from`: no row {table.differences_from!r}"
    addresses = table.addresses()
    for pattern in [p for note in table.footnotes for p in note.at] + [d.at for d in table.deviations]:
        if not any(matches(address, [pattern]) for address in addresses):
            yield f"no cell has the address {pattern!r}; the first cell is {addresses[0]!r}"


def _problems_of_printed(table: Table, row: Row, where: str) -> Iterator[str]:
    """What is wrong with the numbers that a paper's row prints."""
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
                yield f"{where}: a printed difference, and `differences_from` does not say from which row"


OF_PAPERS = ("marks", "differences_from", "sources", "relabel", "deviations")  # keys about what a paper prints


def _problems_of_today(table: Table) -> Iterator[str]:
    """What a table that no paper prints must not have, and that each of its cells names a value of ours."""
    from stele.papers.targets import reference_of  # which knows tables

    for key in OF_PAPERS:
        if getattr(table, key):
            yield f"`{key}` is of what a paper prints, and no paper prints the tables of {TODAY!r}"
    if table.kind != "result" or not table.counted:
        yield f"the tables of {TODAY!r} are results"
    for group, row in table.rows():
        where = f"row {group.key}/{row.key}"
        if row.printed is not None or row.borrowed is not None or row.relabel is not None:
            yield f"{where}: published numbers are those of references.tsv: no `printed`, `borrowed` or `relabel` here"
        excused = {*row.unavailable, *group.unavailable}
        for column in (column for column in table.columns if column.key not in excused):
            for line in table.lines:
                if reference_of(table, group, row, line, column) is None:
                    yield f"{where}, column {column.key}: a benchmark, model, setting, metric or language is missing"


def load_spec(path: Path | str) -> Table:
    """Reads one spec; anything wrong in it is an error that names the file and the key.

    A plan asks for each of them several times: what was read is kept, and holds for the same bytes.
    """
    file = Path(path)
    return _load(str(path), file.resolve().parent.name, file.read_bytes() if file.is_file() else None)


@lru_cache(maxsize=256)
def _load(path: str, paper: str, content: bytes | None) -> Table:
    """`load_spec` of a file with such a content in a folder of such a name."""
    table = validate(Table, read_yaml(path), path)
    if Path(path).stem != f"table_{table.number:02d}" or paper != table.paper:
        raise SteleError(f"{path}: holds table {table.number} of {table.paper}, so it belongs at {table.file}.yaml")
    return table


def load_specs(folder: Path | str) -> list[Table]:
    """All specs of a folder of papers, or of one paper, by paper and number.

    Those of today's encoders are no paper's: they are read where their own folder is named.
    """
    paths = sorted(Path(folder).glob("**/table_*.yaml"))
    own = [path for path in paths if path.parent.name != TODAY or Path(folder).name == TODAY]
    if not own:
        raise SteleError(f"{folder}: no table_NN.yaml in it")
    return [load_spec(path) for path in own]
