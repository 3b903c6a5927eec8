"""The numbers of a table's footnotes at the cells, rows and columns that they speak of."""

from __future__ import annotations

from collections.abc import Sequence

from stele.papers.table import Table, matches


class Notes(dict):
    """Place -> the numbers of its footnotes; a place is a column (`*/*/*/column`), a row or a cell's address."""

    def __missing__(self, place: str) -> list[int]:
        return []


def notes_of(table: Table) -> dict[str, list[int]]:
    """Place -> footnote numbers: a note about a whole column or row goes to its header or label, else to cells."""
    places = Notes()
    for number, note in enumerate(table.footnotes, start=1):
        for pattern in note.at:
            for place in _places(table, pattern):
                places[place] = sorted({*places[place], number})
    return places


def _places(table: Table, pattern: str) -> list[str]:
    group, row, line, column = pattern.split("/")
    if (group, row, line) == ("*", "*", "*"):
        return [f"*/*/*/{c.key}" for c in table.columns if matches(f"x/x/x/{c.key}", [f"*/*/*/{column}"])]
    if (line, column) == ("*", "*"):
        return [f"{g.key}/{r.key}/*/*" for g, r in table.rows() if matches(f"{g.key}/{r.key}/x/x", [pattern])]
    return [address for address in table.addresses() if matches(address, [pattern])]


def raised_text(notes: Sequence[int], marks: str = "") -> str:
    """Marks and footnote numbers as one raised text."""
    return ",".join([*([marks] if marks else []), *map(str, notes)])
