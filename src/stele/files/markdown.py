"""Tables in Markdown that read well on a terminal, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose columns stand below each other, all but the first to the right; without empty columns.

    >>> print(table(["stage", "jobs", "GPUs"], [["sources", "3", ""], ["x", "1,000", ""]]))
    | stage   |  jobs |
    |---------|------:|
    | sources |     3 |
    | x       | 1,000 |
    """
    rows = list(rows)
    used = [column for column in range(len(head)) if column == 0 or any(row[column] for row in rows)]
    lines = [[row[column] for column in used] for row in (head, *rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(used))]

    def shown(cells: Sequence[str]) -> str:
        right = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return f"| {' | '.join([cells[0].ljust(widths[0]), *right])} |"

    rule = "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])])
    return "\n".join([shown(lines[0]), f"|{rule}|", *map(shown, lines[1:])])


def bullets(title: str, items: Sequence[str], most: int) -> str:
    """A list under a title, cut after `most` items.

    >>> print(bullets("Jobs", ["a", "b", "c"], most=2))
    Jobs:
    <BLANKLINE>
    - a
    - b
    - and 1 more
    """
    more = [f"and {len(items) - most} more"] if len(items) > most else []
    return "\n".join([f"{title}:", "", *(f"- {item}" for item in [*items[:most], *more])])
