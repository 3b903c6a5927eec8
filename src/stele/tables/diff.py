"""Compare two folders of results cell by cell: two commits, two clusters, a colleague's bundle.

    python -m stele tables diff results ../colleague/results

Lists the cells whose values differ, and those that only one of the folders has. Where both have values per query, the
difference is tested by the table's own test. The exit code says whether anything differs (0: nothing does).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from stele.command import arguments
from stele.errors import SteleError
from stele.evaluation import paired, scores
from stele.evaluation.significance import load_test
from stele.files.formats import write_csv
from stele.tables.cells.cell import Cell, Outcome, Results, count_text
from stele.tables.cells.significance import p_value
from stele.tables.coverage import all_cells

COLUMNS = ("table", "cell", "value in A", "value in B", "B - A", "p", "state in A", "state in B")


@dataclass(frozen=True)
class Difference:
    """One cell in both folders; p is None where it could not be tested."""

    one: Cell
    other: Cell
    p: float | None

    def row(self) -> list[str]:
        values = [cell.outcome.value for cell in (self.one, self.other)]
        shown = ["" if value is None else repr(value) for value in values]
        change = "" if None in values else f"{values[1] - values[0]:+.6f}"
        p = "" if self.p is None else f"{self.p:.6f}"
        states = [cell.outcome.state for cell in (self.one, self.other)]
        return [self.one.table.id, self.one.address, *shown, change, p, *states]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs=2, type=Path, metavar="RESULTS", help="A and B")
    parser.add_argument("--specs", type=Path, default=Path("paper_tables"), help="folder (default: %(default)s)")
    parser.add_argument(
        "--csv", type=arguments.output(".csv"), metavar="FILE.csv", help="every cell that differs, with full values"
    )


def run(args: argparse.Namespace) -> None:
    for folder in args.folders:
        if not folder.is_dir():
            raise SteleError(f"{folder}: no such folder of results")
    pairs = paired_cells(*(list(all_cells(args.specs, folder)) for folder in args.folders))
    different = list(differences(pairs, *args.folders))
    rows = [difference.row() for difference in different]
    for row in rows:
        print("  ".join(cell for cell in row if cell))
    if args.csv:
        from stele.files.atomic import atomic_file

        with atomic_file(args.csv, newline="", encoding="utf-8") as handle:
            write_csv(handle, [COLUMNS, *rows])
    both = sum(one.measured and other.measured for one, other in pairs)
    print(f"{count_text([one for one, _ in pairs])}, {both} measured in both, {len(different)} differ")
    if different:
        sys.exit(1)


def paired_cells(first: Sequence[Cell], second: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
    """The cells of two folders by their addresses; a row that only one configuration added is not run in the other."""
    one, other = ({(cell.table.id, cell.address): cell for cell in cells} for cells in (first, second))
    lacking = Outcome("not run", "no such row there")
    return [
        (
            one.get(place) or replace(other[place], outcome=lacking),
            other.get(place) or replace(one[place], outcome=lacking),
        )
        for place in dict.fromkeys([*one, *other])
    ]


def differences(pairs: Sequence[tuple[Cell, Cell]], first: Path, second: Path) -> Iterator[Difference]:
    """The cells that are measured in one folder only, or in both with other values."""
    read = cache(_scores)
    for one, other in pairs:
        if one.measured and other.measured:
            if one.outcome.value != other.outcome.value or one.outcome.languages != other.outcome.languages:
                yield Difference(one, other, _p(one, other, read, first, second))
        elif one.measured or other.measured:
            yield Difference(one, other, None)


def _scores(folder: Path, result: tuple[str, str, str]) -> list[scores.Scores] | None:
    """The values per query of a result by seed, None where they are not beside it."""
    try:
        return scores.read(Results(folder).path(*result))
    except SteleError:
        return None


def _p(one: Cell, other: Cell, read, first: Path, second: Path) -> float | None:
    """p of B against A by the table's test, over the languages that both cover; None where their queries differ."""
    values = read(first, one.reference.result), read(second, other.reference.result)
    metric, languages = one.reference.metric, set(one.outcome.languages) & set(other.outcome.languages)
    if None in values or not languages:
        return None
    try:
        first, second = (paired.stack([seed.only(languages, metric) for seed in seeds]) for seeds in values)
        return p_value(load_test(one.table.significance.test), second, first, metric)
    except SteleError:
        return None
