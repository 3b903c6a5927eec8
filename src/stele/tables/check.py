"""Check the papers' tables against themselves: averages, numbers printed twice, bold marks; every cell is counted.

Each deviation must be listed with its reason in the table's spec (`deviations`); one that is not, or one listed that
does not occur, is an error.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stele.errors import SteleError
from stele.tables.cells import Cell, Results, table_cells
from stele.tables.context import Context
from stele.tables.spec import Table, load_specs
from stele.tables.targets import source_of

log = logging.getLogger(__name__)
EPSILON = 1e-9


@dataclass(frozen=True)
class Found:
    """One deviation: the table, the cell's address, its kind, what is printed and what its neighbours say."""

    table: str
    address: str
    kind: str
    says: str


def printed_cells(table: Table) -> list[Cell]:
    """The cells of a spec without any results."""
    return table_cells(table, Context(), Results(Path("/nonexistent")))


def _number(cell: Cell) -> float | None:
    value = cell.printed.value if cell.printed else None
    return value if isinstance(value, float) else None


def averages(table: Table, cells: Sequence[Cell]) -> Iterator[Found]:
    """Printed averages that differ from the mean of their row's cells by more than half a unit of the last digit.

    The paper averages unrounded cells, so up to one unit may come from rounding: listed as data all the same.
    """
    lines = defaultdict(list)
    for cell in cells:
        lines[cell.group.key, cell.row.key, cell.line.key].append(cell)
    for line in lines.values():
        single = {c.ask.languages[0]: v for c in line if c.ask and not c.ask.average and (v := _number(c)) is not None}
        for cell in line:
            columns = cell.ask.languages if cell.ask and cell.ask.average else _columns_averaged(table, cell)
            known = [single[code] for code in columns if code in single] if cell.ask else _by_column(line, columns)
            if len(columns) < 2 or len(known) != len(columns) or _number(cell) is None:
                continue
            mean = sum(known) / len(known)
            if abs(_number(cell) - mean) > 0.5 * 10**-cell.report.decimals + EPSILON:
                says = f"prints {_number(cell):g}, the mean of its {len(known)} cells is {mean:.3f}"
                yield Found(table.id, cell.address, "average", says)


def _columns_averaged(table: Table, cell: Cell) -> list[str]:
    """The columns that an average covers in a row that asks for nothing of ours (numbers borrowed from elsewhere)."""
    return [c.key for code in cell.column.target.average or () for c in table.columns if c.target.language == code]


def _by_column(line: Sequence[Cell], columns: Iterable[str]) -> list[float]:
    values = {cell.column.key: _number(cell) for cell in line}
    return [values[key] for key in columns if values.get(key) is not None]


def printed_twice(tables: Sequence[Table]) -> Iterator[Found]:
    """Cells that ask for the same value, both the papers' own measurements, and are printed differently.

    Reported at each of the cells, so that each table tells its reader; numbers borrowed from elsewhere are left out.
    """
    same = defaultdict(list)
    for table in tables:
        for cell in printed_cells(table):
            if cell.ask and _number(cell) is not None and not source_of(cell.row, cell.column):
                asked = cell.ask
                same[table.paper, *asked.result, asked.metric, frozenset(asked.languages)].append(cell)
    for cells in same.values():
        if len({_number(cell) for cell in cells}) > 1:
            everywhere = ", ".join(f"{_number(cell):g} in {cell.table.id} {cell.address}" for cell in cells)
            common = Counter(_number(cell) for cell in cells).most_common()
            # of several prints the rarer one is the odd one out; where two stand one to one, both are
            odd = {value for value, count in common if count < common[0][1]} or {value for value, _ in common}
            yield from (
                Found(cell.table.id, cell.address, "same target", everywhere) for cell in cells if _number(cell) in odd
            )


def bold_marks(table: Table, cells: Sequence[Cell]) -> Iterator[Found]:
    """Printed bold on a number that is not the best of the rows it is compared with."""
    columns = defaultdict(list)
    for cell in cells:
        if _number(cell) is not None:
            group = cell.group.key if table.compare == "group" else ""
            columns[group, cell.line.key, cell.column.key].append(cell)
    for rivals in columns.values():
        best = (max if rivals[0].direction == "higher" else min)(rivals, key=_number)
        for cell in rivals:
            if cell.printed.bold and _number(cell) != _number(best):
                says = f"{_number(cell):g} is bold, {best.row.label} has {_number(best):g}"
                yield Found(table.id, cell.address, "bold", says)


def deviations(tables: Sequence[Table]) -> list[Found]:
    """All deviations of some tables, by table and address."""
    found = [*printed_twice(tables)]
    for table in tables:
        cells = printed_cells(table)
        found += [*averages(table, cells), *bold_marks(table, cells)]
    return sorted(found, key=lambda d: (d.table, d.address, d.kind))


def unexplained(tables: Sequence[Table], found: Iterable[Found]) -> list[str]:
    """What is wrong: deviations that no spec lists, and listed ones that do not occur."""
    listed = {(table.id, d.at, d.kind) for table in tables for d in table.deviations}
    occurring = {(d.table, d.address, d.kind): d for d in found}
    unknown = [f"{d.table} {d.address}: {d.kind}: {d.says}" for key, d in occurring.items() if key not in listed]
    gone = sorted(listed - occurring.keys())
    stale = [f"{table} {at}: {kind}: listed in `deviations` and does not occur" for table, at, kind in gone]
    return unknown + stale


def counts(table: Table) -> Counter[str]:
    """How many cells of a table hold a number, words, or a dash."""
    kinds = {float: "numbers", str: "words", type(None): "dashes"}
    return Counter(kinds[type(cell.printed.value)] for cell in printed_cells(table))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--specs", type=Path, required=True, help="folder of specs: paper_tables, or one paper's")


def run(args: argparse.Namespace) -> None:
    tables = load_specs(args.specs)
    found = deviations(tables)
    reasons = {(table.id, d.at, d.kind): d for table in tables for d in table.deviations}
    for table in tables:
        of_table = counts(table)
        kinds = ", ".join(f"{of_table[kind]} {kind}" for kind in ("numbers", "words", "dashes") if of_table[kind])
        print(f"{table.id}: {of_table.total()} cells: {kinds}")
        for deviation in (d for d in found if d.table == table.id):
            known = reasons.get((deviation.table, deviation.address, deviation.kind))
            why = f"{known.why}{f' ({known.issue})' if known.issue else ''}" if known else "NOT EXPLAINED"
            print(f"  {deviation.address}: {deviation.kind}: {deviation.says}: {why}")
    print(f"all: {sum(counts(table).total() for table in tables)} cells of {len(tables)} tables")
    if problems := unexplained(tables, found):
        raise SteleError("\n".join(["the tables deviate from themselves:", *problems]))
