"""Marks of the best, second-best and significantly better of our numbers in a table, never of a paper's numbers.

Ranks are by unrounded values; all ties are marked. If no row is above chance, none is ranked: their order is noise.

Significance is by the test that the paper states, on values per query, against the row that the paper names. If it
names none, the best row of each column is tested against the second-best one, by default with Fisher randomisation
(Smucker et al. 2007). The values per query lie beside the results; a result without them is not tested.

A table's record holds its tests, so that pages which show the table again need not repeat them.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

from stele.artifacts import records
from stele.errors import Damaged, SteleError
from stele.evaluation import paired, scores
from stele.evaluation.significance import PERMUTATIONS, SignificanceTest, correct, load_test
from stele.files.digests import digest
from stele.files.formats import amount
from stele.papers.table import Table
from stele.papers.table_parts import Significance
from stele.tables.values import numbers
from stele.tables.values.cell import Cell, table_cells
from stele.tables.values.context import Context
from stele.tables.values.lookup import Results

BETTER = "◆"  # the mark of a cell that is significantly better; no paper prints it
SEED = 0  # of the permutations: tables of the same results are the same bytes


@dataclass(frozen=True)
class Compared:
    """The test of one cell against another row: p, p corrected for all tests of the table, and the conclusion."""

    against: str
    p: float
    corrected: float = 1.0
    better: bool = False


@dataclass(frozen=True)
class Comparisons:
    """All tests of a table by cell address, the method in words, and the reasons why some could not be done."""

    cells: dict[str, Compared] = field(default_factory=dict)
    method: str = ""
    untested: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()  # reasons among `untested` that are damaged files


def compare_rows(cells: Sequence[Cell], results: Results) -> Comparisons:
    """Tests the cells of one table against each other, as its spec says."""
    plan = cells[0].table.significance
    test, compared, untested, damaged = load_test(plan.test), {}, {}, {}
    for cell, other in _comparisons(cells, plan):
        try:
            languages, metric = cell.outcome.languages, cell.reference.metric
            system, baseline = (values_per_query(results, row, languages, metric) for row in (cell, other))
            p = p_value(test, system, baseline, metric)
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


@dataclass(frozen=True, eq=False)  # compared by identity, so that its views can be cached
class FilledTable:
    """A table with its cells from a folder of results, in printed order, and their tests: every format renders it."""

    table: Table
    cells: Sequence[Cell]
    context: Context
    results: Results
    tests: Comparisons


def fill(table: Table, context: Context, results: Results) -> FilledTable:
    """Looks up and tests all cells of a table."""
    cells = table_cells(table, context, results)
    return FilledTable(table, cells, context, results, compare_rows(cells, results))


def p_value(test: SignificanceTest, system: scores.Scores, baseline: scores.Scores, metric: str) -> float:
    """p-value of the difference between two cells' values, macro-averaged over languages.

    Languages that ask the same questions are no samples of their own: their differences are averaged by question.
    Raises SteleError if the systems' queries differ, or if the test gives no p-value.
    """
    samples = paired.pair(system, baseline, metric).samples("macro", paired.same_questions(system.benchmark))
    p = test.p_value(samples, PERMUTATIONS, SEED)
    if math.isnan(p):
        raise SteleError("a language has a single query, which has no variance for a t-test")
    return p


def _comparisons(cells: Sequence[Cell], plan: Significance) -> Iterator[tuple[Cell, Cell]]:
    """Yields each tested cell with the cell it is tested against, without pairs of equal values."""
    for comparable in rivals(cells):
        ordered = sorted(comparable, key=lambda cell: cell.outcome.value, reverse=comparable[0].direction == "higher")
        if plan.against is None:
            pairs = [(ordered[0], ordered[1])] if len(ordered) > 1 else []
        else:
            base = [cell for cell in comparable if cell.reference.model == plan.baseline(cell.reference.benchmark)]
            pairs = [(cell, base[0]) for cell in comparable if base and cell is not base[0]]
        yield from ((cell, other) for cell, other in pairs if _compared(cell) != _compared(other))


@lru_cache(maxsize=32)  # tables share results
def _read(results: Results, paths: tuple[Path, ...]) -> list[scores.Scores]:
    return [entry for path in paths for entry in scores.read(path)]


def values_per_query(results: Results, cell: Cell, languages: Collection[str], metric: str) -> scores.Scores:
    """Reads a cell's values per query and seed in `languages`. Raises SteleError if its result has none beside it."""
    seeds = _read(results, tuple(results.paths(cell.reference.result, cell.seeds)))
    return paired.stack([seed.only(languages, metric) for seed in seeds])


def _method(cells: Sequence[Cell], plan: Significance, how: str, count: int) -> str:
    """Describes the tests in a sentence; "" if none was done."""
    if not count:
        return ""
    rows = dict.fromkeys(cell.row.label for cell in cells if cell.reference and cell.reference.model in plan.baselines)
    whom = f"the row {' or '.join(rows)}" if plan.against else "the second-best row of its column"
    over = f", {plan.correction.capitalize()} correction over {amount(count, 'test')}"
    family = "" if plan.correction == "none" else over
    return f"better than {whom} (p < {plan.level:g}{family}; {how})"


Rank = Literal["best", "second"]
CHANCE = 0.025  # chance that any row seems above the guess if none is; for one row: two standard errors


def rank(cells: Iterable[Cell]) -> dict[str, Rank]:
    """Ranks the cells of one table: address -> rank, for the best and second-best cells.

    The rows of one line and column are compared, within a group or over the table as its spec says. Averages are
    compared only if they cover the same languages, the set that most rows have. A single row has no rank; of two rows
    only the better one has.
    """
    ranks: dict[str, Rank] = {}
    for comparable in rivals(cells):
        values = sorted({_compared(cell) for cell in comparable}, reverse=comparable[0].direction == "higher")
        for cell in comparable if len(comparable) > 1 else ():
            if _compared(cell) == values[0]:
                ranks[cell.address] = "best"
            elif len(comparable) > 2 and _compared(cell) == values[1]:
                ranks[cell.address] = "second"
    return ranks


def rivals(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Sets of comparable cells in which some row is above chance, in printed order."""
    return [comparable for comparable in comparable_sets(cells) if not at_guess(comparable)]


def at_guess(cells: list[Cell]) -> bool:
    """Whether no cell is above chance, by a one-sided z test at level `CHANCE`, Bonferroni-corrected over the cells.

    A cell whose chance level is unknown counts as above it.
    """
    bound = NormalDist().inv_cdf(1 - CHANCE / len(cells))
    for cell in cells:
        if cell.outcome.guess is None or cell.direction != "higher":
            return False
        guess, error = cell.outcome.guess
        if cell.outcome.value - guess > bound * error:
            return False
    return True


def comparable_sets(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Groups the cells that show our numbers into sets whose numbers can be compared."""
    comparable = defaultdict(list)
    for cell in cells:
        if cell.shows_number and cell.direction != "none":
            group = cell.group.key if cell.table.compare == "group" else ""
            measure = cell.reference.benchmark, cell.reference.metric  # rows of a table may be benchmarks or metrics
            comparable[group, cell.line.key, cell.column.key, measure].append(cell)
    return [_same_languages(cells_compared) for cells_compared in comparable.values()]


def _same_languages(cells: list[Cell]) -> list[Cell]:
    """Selects the cells that cover the most common set of languages; of equally common sets, the larger."""
    sets = Counter(frozenset(cell.outcome.languages) for cell in cells)
    chosen = max(sets, key=lambda languages: (sets[languages], len(languages), sorted(languages)))
    return [cell for cell in cells if frozenset(cell.outcome.languages) == chosen]


def _compared(cell: Cell) -> float:
    return numbers.without_last_bits(cell.outcome.value)


def results_in(cells: Sequence[Cell], results: Results) -> dict[str, str]:
    """Content digests of the result files that a table's values were read from, by path."""
    paths = {path for cell in cells if cell.measured for path in results.paths(cell.reference.result, cell.seeds)}
    return {path.as_posix(): results.digest(path) for path in sorted(paths) if path.is_file()}


def tests_record(tests: Comparisons) -> dict[str, Any]:
    """Keys of a table's record that hold its tests, with a digest by which `read_tests` sees they are unchanged."""
    cells = {address: asdict(compared) for address, compared in tests.cells.items()}
    stored = {"method": tests.method, "untested": list(tests.untested), "cells": cells}
    return {"significance": stored, "significance_digest": digest(stored)}


def read_tests(record: Path, spec: Path, cells: Sequence[Cell], results: Results) -> Comparisons | None:
    """Reads the tests in a table's record; None if it is damaged, or is for another spec or other results."""
    try:
        facts = records.read_record(record)
        if facts["inputs"] != {"spec": records.content_digest(spec)} or facts["results"] != results_in(cells, results):
            return None
        stored = facts["significance"]
        if facts["significance_digest"] != digest(stored):
            return None
        tests = {address: Compared(**values) for address, values in stored["cells"].items()}
        return Comparisons(tests, stored["method"], tuple(stored["untested"]))
    except (SteleError, KeyError, TypeError, AttributeError):
        return None
