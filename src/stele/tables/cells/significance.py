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

from stele.errors import Damaged, SteleError
from stele.evaluation import paired, scores
from stele.evaluation.significance import PERMUTATIONS, SignificanceTest, correct, load_test
from stele.papers.table_parts import Significance
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
    for cell, other in _comparisons(cells, plan):
        try:
            p = p_value(test, *(_of_queries(results, one, cell) for one in (cell, other)), cell.reference.metric)
        except SteleError as error:
            untested.setdefault(str(error), []).append(f"{cell.row.label} and {other.row.label}")
            damaged |= {str(error): None} if isinstance(error, Damaged) else {}
            continue
        higher = cell.outcome.value > other.outcome.value
        compared[cell.address] = Compared(other.row.label, p, better=higher == (cell.direction == "higher"))
    corrected = correct([tested.p for tested in compared.values()], plan.correction)
    done = {
        address: replace(tested, corrected=p, better=tested.better and p < plan.level)
        for (address, tested), p in zip(compared.items(), corrected, strict=True)
    }
    method = _method(cells, plan, test.describe(PERMUTATIONS, SEED), len(done))
    reasons = [f"{', '.join(dict.fromkeys(rows))}: {why}" for why, rows in untested.items()]
    return Comparisons(done, method, tuple(reasons), tuple(damaged))


def p_value(test: SignificanceTest, system: scores.Scores, baseline: scores.Scores, metric: str) -> float:
    """p of a difference of a table's cells, whose average is over languages."""
    pairs = paired.pair(system, baseline, metric)
    return test.p_value(paired.strata(pairs.of(pairs.differences()), "macro"), PERMUTATIONS, SEED)


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
def _read(results: Results, paths: tuple[Path, ...]) -> list[scores.Scores]:
    """The values per query of one result's files, as `results` found them, by seed."""
    return [entry for path in paths for entry in scores.read(path)]


def _of_queries(results: Results, cell: Cell, tested: Cell) -> scores.Scores:
    """The values per query behind a cell, of the tested one's languages: what a row lacks elsewhere is no matter."""
    seeds = _read(results, tuple(results.paths(cell.reference.result, cell.seeds)))
    return paired.stack([seed.only(tested.outcome.languages, tested.reference.metric) for seed in seeds])


def _method(cells: Sequence[Cell], plan: Significance, how: str, count: int) -> str:
    """The tests in a sentence; nothing where none was done."""
    if not count:
        return ""
    models = {*(plan.against.values() if isinstance(plan.against, dict) else [plan.against])}
    rows = dict.fromkeys(cell.row.label for cell in cells if cell.reference and cell.reference.model in models)
    whom = f"the row {' or '.join(rows)}" if plan.against else "the second-best row of its column"
    family = "" if plan.correction == "none" else f", {plan.correction.capitalize()} correction over {count} tests"
    return f"better than {whom} (p < {plan.level:g}{family}; {how})"
