"""Which of our numbers in a table differ significantly: by the test that the paper states, on values per query.

Where a paper states none, in each column the best row is tested against the second-best one by Fisher randomisation
(Smucker et al. 2007); where it names the row that others are tested against, all others are. The values per query stand
beside the results; a result handed over without them is not tested. Marks never rest on a paper's numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from stele.errors import Damaged, SteleError
from stele.papers.table_parts import Significance
from stele.significance import paired, scores
from stele.significance.comparison import load_test
from stele.significance.corrections import correct
from stele.significance.fisher import PERMUTATIONS
from stele.tables.cells.best import rivals
from stele.tables.cells.cell import Cell, Results

BETTER = "◆"  # the mark of a cell that is significantly better; no paper prints it
SEED = 0  # of the permutations: tables of the same results are the same bytes


@dataclass(frozen=True)
class Compared:
    """One cell's difference from another row's: p-value, corrected for all tests of the table, and what it says."""

    against: str
    p: float
    corrected: float = 1.0
    better: bool = False


@dataclass(frozen=True)
class Comparisons:
    """All tests of a table: what was done, by cell address, and why some could not be done."""

    cells: dict[str, Compared] = field(default_factory=dict)
    method: str = ""
    untested: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()  # those of them where a file is not the one that was written


def compare_rows(cells: Sequence[Cell], results: Results) -> Comparisons:
    """The tests of one table's cells."""
    if not cells:
        return Comparisons()
    plan = cells[0].table.significance
    test, compared, untested, damaged = load_test(plan.test), {}, {}, {}

    def read(result: tuple[str, str, str]) -> scores.Scores:
        return _read(results, paths[result])

    paths = {
        cell.reference.result: tuple(results.paths(cell.reference.result, cell.seeds))
        for cell in cells
        if cell.reference
    }
    for cell, other in _comparisons(cells, plan):
        try:
            pairs = _pairs(cell, other, read)
        except SteleError as error:
            untested[str(error)] = None
            damaged |= {str(error): None} if isinstance(error, Damaged) else {}
            continue
        strata = paired.strata(pairs.of(pairs.differences()), "macro")  # a table's average is over languages
        p = test.p_value(strata, PERMUTATIONS, SEED)
        higher = cell.outcome.value > other.outcome.value
        compared[cell.address] = Compared(other.row.label, p, better=higher == (cell.direction == "higher"))
    corrected = correct([tested.p for tested in compared.values()], plan.correction)
    done = {
        address: replace(tested, corrected=p, better=tested.better and p < plan.level)
        for (address, tested), p in zip(compared.items(), corrected, strict=True)
    }
    method = _method(plan, test.describe(PERMUTATIONS, SEED), len(done))
    return Comparisons(done, method, tuple(untested), tuple(damaged))


def _comparisons(cells: Sequence[Cell], plan: Significance) -> Iterator[tuple[Cell, Cell]]:
    """(cell, the cell it is tested against); equal values are no difference to test."""
    for comparable in rivals(cells):
        ordered = sorted(comparable, key=lambda cell: cell.outcome.value, reverse=comparable[0].direction == "higher")
        if plan.against is None:
            pairs = [(ordered[0], ordered[1])] if len(ordered) > 1 else []
        else:
            base = [cell for cell in comparable if cell.reference.model == plan.baseline(cell.reference.benchmark)]
            pairs = [(cell, base[0]) for cell in comparable if base and cell is not base[0]]
        yield from ((one, other) for one, other in pairs if one.outcome.value != other.outcome.value)


@lru_cache(maxsize=32)  # tables share results
def _read(results: Results, paths: tuple[Path, ...]) -> scores.Scores:
    """The values per query of one result's files, as `results` found them."""
    return paired.stack([entry for path in paths for entry in scores.read(path)])


def _pairs(cell: Cell, other: Cell, read) -> paired.Pairs:
    """The values per query of the languages that both cells cover."""
    both = [read(one.reference.result) for one in (cell, other)]
    for side, of in zip(both, (cell, other), strict=True):
        if of.reference.metric not in side.values:
            raise SteleError(f"{side.source}: no values per query of {of.reference.metric}")
    pairs = paired.pair(*both, cell.reference.metric)
    kept = np.isin(pairs.languages, cell.outcome.languages)
    return paired.Pairs(pairs.system[:, kept], pairs.baseline[:, kept], pairs.languages[kept])


def _method(plan: Significance, how: str, count: int) -> str:
    """The tests in a sentence; nothing where none was done."""
    if not count:
        return ""
    against = plan.against.values() if isinstance(plan.against, dict) else [plan.against or ""]
    whom = f"the row of {' or '.join(dict.fromkeys(against))}" if plan.against else "the second-best row of its column"
    family = "" if plan.correction == "none" else f", {plan.correction.capitalize()} correction over {count} tests"
    return f"better than {whom} (p < {plan.level:g}{family}; {how})"
