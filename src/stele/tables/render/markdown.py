"""Rendering of a grid as a Markdown table that looks right on GitHub and as plain text. All text is escaped."""

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
    """Escapes plain text, so that Markdown shows exactly that text, on one line, and in a direction of its own."""
    text = re.sub(r"[&<>]", lambda match: _HTML[match.group()], re.sub(r"\s+", " ", neutralised(str(text))))
    shown = _SPECIAL.sub(r"\\\1", text)
    return f'<span dir="auto">{shown}</span>' if runs_leftwards(text) else shown


def line(text: str) -> str:
    r"""Escapes plain text also for the start of a line, where Markdown would take `+ RR` for a list.

    >>> print(line("+ RR"), line("1. place"), line("-5"), line("a - b"), sep="; ")
    \+ RR; 1\. place; -5; a - b
    """
    return _LISTED.sub(lambda match: rf"{match[1]}{match[2][:-1]}\{match[2][-1]}", escape(text))


def code(text: str) -> str:
    """Formats text as a code span, whatever backticks it holds."""
    text = " ".join(neutralised(str(text)).split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def box(value: Box) -> str:
    """Markdown of one box: the number, then its raised marks, so that right-aligned decimals stay in line."""
    text = escape(value.signed)
    if value.bold and text:
        text = f"**{text}**"
    if value.grey and text:
        text = f"*{text}*"
    if value.underlined:
        text = f"<ins>{text}</ins>"  # GitHub drops <u> and keeps <ins>, which shows as a line below
    return f"{text}<sup>{escape(value.raised)}</sup>" if value.raised else text


def width(text: str) -> int:
    """Number of columns that a text takes in a fixed-width font."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def table(grid: Grid) -> str:
    """Markdown of a grid: one pipe table per group, under its heading (Markdown has no cell that spans columns).

    Header groups stand above the header in the same cell.
    """
    headers = [escape(text) for text in grid.stub]
    for column, header in zip(grid.columns, grid.headers, strict=True):
        headers.append(f"{escape(column.group)}<br>{box(header)}" if column.group else box(header))
    right = [False] * len(grid.stub) + grid.numeric
    parts = []
    for section in grid.sections:
        rows = [[box(value) for value in (*line.stubs, *line.boxes)] for line in section.lines]
        heading = f"*{escape(section.heading)}*\n\n" if section.heading else ""
        parts.append(heading + pipes(headers, rows, right))
    return "\n\n".join(parts)


def pipes(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Pipe table of texts that are Markdown already; `right` says which columns are right-aligned."""
    widths = [max(3, *(width(row[i]) for row in [headers, *rows])) for i in range(len(headers))]

    def line(row: Sequence[str]) -> str:
        padded = (
            " " * (w - width(text)) + text if r else text + " " * (w - width(text))
            for text, w, r in zip(row, widths, right, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = "|".join("-" * (w + 1) + ":" if r else ":" + "-" * (w + 1) for w, r in zip(widths, right, strict=True))
    return "\n".join([line(headers), f"|{rule}|", *map(line, rows)])
