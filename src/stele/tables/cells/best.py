"""Best and second-best among our own numbers, on unrounded values, ties all marked; whatever the paper marks.

Where no row is above a guess, nothing is: which of them comes first there is noise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from statistics import NormalDist
from typing import Literal

from stele.tables.cells.cell import Cell

Rank = Literal["best", "second"]
CHANCE = 0.025  # of a row above the guess where none is: with one row the bound is two standard errors


def rank(cells: Iterable[Cell]) -> dict[str, Rank]:
    """Address -> rank, for the cells of one table whose number of ours is at the top of what it can be compared with.

    Compared are the rows of one line and column, within a group or over the table as its spec says. Averages are
    compared only where they cover the same languages: the set that most rows have. One row alone is not marked, and of
    two rows only the better one.
    """
    ranks: dict[str, Rank] = {}
    for comparable in rivals(cells):
        ranks |= _rank(comparable)
    return ranks


def rivals(cells: Iterable[Cell]) -> list[list[Cell]]:
    """The cells of one table with a number of ours, in sets whose ranks mean something, in printed order."""
    return [comparable for comparable in _comparable(cells) if not _at_guess(comparable)]


def at_guess(cells: Iterable[Cell]) -> list[list[Cell]]:
    """The sets of cells in which no row is above a guess."""
    return [comparable for comparable in _comparable(cells) if _at_guess(comparable)]


def _at_guess(cells: list[Cell]) -> bool:
    """Whether no cell is above its guess: further from it than chance takes one of so many rows in `CHANCE` of tables.

    A cell whose guess is not known may be above it.
    """
    bound = NormalDist().inv_cdf(1 - CHANCE / len(cells))
    distances = [(cell.outcome.value - cell.outcome.guess[0], cell.outcome.guess[1]) for cell in cells
                 if cell.outcome.guess and cell.direction == "higher"]  # fmt: skip
    return len(distances) == len(cells) and all(distance <= bound * error for distance, error in distances)


def _comparable(cells: Iterable[Cell]) -> list[list[Cell]]:
    """The cells with a number of ours in sets that can be compared."""
    comparable = defaultdict(list)
    for cell in cells:
        if cell.shows_number and cell.direction != "none":
            group = cell.group.key if cell.table.compare == "group" else ""
            comparable[group, cell.line.key, cell.column.key].append(cell)
    return [_same_languages(cells_compared) for cells_compared in comparable.values()]


def _same_languages(cells: list[Cell]) -> list[Cell]:
    """The cells that cover the most common set of languages; of equally common sets, the larger."""
    sets = Counter(frozenset(cell.outcome.languages) for cell in cells)
    chosen = max(sets, key=lambda languages: (sets[languages], len(languages), sorted(languages)))
    return [cell for cell in cells if frozenset(cell.outcome.languages) == chosen]


def _rank(cells: list[Cell]) -> dict[str, Rank]:
    if len(cells) < 2:
        return {}
    values = sorted({cell.outcome.value for cell in cells}, reverse=cells[0].direction == "higher")
    ranks: dict[str, Rank] = {cell.address: "best" for cell in cells if cell.outcome.value == values[0]}
    if len(cells) > 2 and len(values) > 1:
        ranks |= {cell.address: "second" for cell in cells if cell.outcome.value == values[1]}
    return ranks
