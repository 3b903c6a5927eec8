"""A grid as a Markdown table that GitHub shows well and that lines up as plain text too. All text is escaped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from stele.files.formats import neutralised
from stele.tables.render.direction import runs_leftwards
from stele.tables.render.layout import Box, Grid

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$])")
_LISTED = re.compile(r"^( ?)([-+]|\d+[.)])(?= |$)")  # what begins an item of a list
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escape(text: str) -> str:
    """Plain text as Markdown that shows exactly that text, on one line, and in a direction of its own."""
    text = re.sub(r"[&<>]", lambda match: _HTML[match.group()], re.sub(r"\s+", " ", neutralised(str(text))))
    shown = _SPECIAL.sub(r"\\\1", text)
    return f'<span dir="auto">{shown}</span>' if runs_leftwards(text) else shown


def line(text: str) -> str:
    r"""Plain text as Markdown that shows exactly that text also at the start of a line, where `+ RR` were a list.

    >>> print(line("+ RR"), line("1. place"), line("-5"), line("a - b"), sep="; ")
    \+ RR; 1\. place; -5; a - b
    """
    return _LISTED.sub(lambda match: rf"{match[1]}{match[2][:-1]}\{match[2][-1]}", escape(text))


def code(text: str) -> str:
    """Text as a code span, whatever backticks it holds."""
    text = " ".join(neutralised(str(text)).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def box(value: Box) -> str:
    """One box: the number first, marks raised after it, so that right-aligned decimals stay in line."""
    text = escape(value.text.replace("-", "−") if value.number and len(value.text) > 1 else value.text)
    if value.bold and text:
        text = f"**{text}**"
    if value.grey and text:
        text = f"*{text}*"
    if value.underlined:
        text = f"<ins>{text}</ins>"  # GitHub drops <u> and keeps <ins>, which shows as a line below
    return f"{text}<sup>{escape(value.raised)}</sup>" if value.raised else text


def width(text: str) -> int:
    """Columns that a text takes in a fixed-width font."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def table(grid: Grid) -> str:
    """The grid as pipe tables, one for each group under its heading (Markdown has no cell that spans columns).

    Header groups stand above the header in the same cell.
    """
    headers = [escape(text) for text in grid.stub]
    for column, header in zip(grid.columns, grid.headers, strict=True):
        headers.append(f"{escape(column.group)}<br>{box(header)}" if column.group else box(header))
    right = [False] * len(grid.stub) + [grid.is_number(index) for index in range(len(grid.columns))]
    parts = []
    for section in grid.sections:
        rows = [[box(value) for value in (*line.stubs, *line.boxes)] for line in section.lines]
        heading = f"*{escape(section.heading)}*\n\n" if section.heading else ""
        parts.append(heading + pipes(headers, rows, right))
    return "\n\n".join(parts)


def pipes(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """A pipe table of texts that are Markdown already; `right`: the columns that are set to the right."""
    widths = [max(3, *(width(row[i]) for row in [headers, *rows])) for i in range(len(headers))]

    def line(row: Sequence[str]) -> str:
        padded = (
            " " * (w - width(text)) + text if r else text + " " * (w - width(text))
            for text, w, r in zip(row, widths, right, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = "|".join("-" * (w + 1) + ":" if r else ":" + "-" * (w + 1) for w, r in zip(widths, right, strict=True))
    return "\n".join([line(headers), f"|{rule}|", *map(line, rows)])
