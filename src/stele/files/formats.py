"""Formats outputs: texts without hidden characters, CSV, Markdown tables, durations.

A spreadsheet shows our CSV without running it as formulas: a text that would begin a formula gets an apostrophe in
front, which docs/tables.md says how to remove; a number keeps its sign.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import IO, Any

# controls but for blanks, lone surrogates, separators of lines and paragraphs, embeddings and overrides of direction
_HIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
_IN_OUTPUT, _IN_LABELS = re.compile(f"[{_HIDDEN}]"), re.compile(f"[{_HIDDEN}\t\n\r]")


def neutralised(text: str) -> str:
    """Replaces hidden characters (controls, overrides of direction) in a text for an output by U+FFFD.

    >>> neutralised("abc\\u202edef")
    'abc\\ufffddef'
    """
    return _IN_OUTPUT.sub("\ufffd", text)


def plain_label(text: str) -> str:
    """Returns the label unchanged. Raises ValueError if it has a hidden character, a tab or a line break."""
    if match := _IN_LABELS.search(text):
        name = unicodedata.name(match.group(), "a control character")
        raise ValueError(f"holds U+{ord(match.group()):04X} ({name}) at {match.start() + 1}; remove that character")
    return text


END = "\r\n"
# the last four: wide forms, which East Asian editions evaluate
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?(\d[\d,]*\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)|-", re.ASCII)  # or a dash


def csv_cell(value: Any) -> Any:
    """Escapes one CSV cell: neutralises a text, with an apostrophe before what a spreadsheet would run as a formula.

    >>> [csv_cell(value) for value in (-1.2, "-1.2", "+ RR", "=HYPERLINK(1)", "'=1", "it's", "-")]
    [-1.2, '-1.2', "'+ RR", "'=HYPERLINK(1)", "''=1", "it's", '-']
    """
    if not isinstance(value, str):
        return value
    text = neutralised(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def csv_text(cell: str) -> str:
    """Restores the text of a CSV cell written by `csv_cell`, except for hidden characters, which are lost.

    >>> [csv_text(cell) for cell in ("-1.2", "'+ RR", "''=1", "it's", "'s")]
    ['-1.2', '+ RR', "'=1", "it's", "'s"]
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_csv(handle: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Writes rows, the header included, as CSV to a file that was opened with newline="" or a fixed line end."""
    for row in rows:
        line = io.StringIO(newline="")
        csv.writer(line).writerow([csv_cell(value) for value in row])  # its default line end makes it quote \r and \n
        handle.write(f"{line.getvalue().removesuffix(END)}\n")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Formats a Markdown table with padded columns, right-aligned except for the first; drops empty columns.

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


def amount(number: float, noun: str, plural: str = "") -> str:
    """Formats a count with its noun; `plural` is needed only for a plural that is not the noun with an s.

    >>> amount(1, "seed"), amount(0, "seed"), amount(1200, "query", "queries")
    ('1 seed', '0 seeds', '1,200 queries')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Formats a duration in its two largest units.

    >>> [duration(seconds) for seconds in (0.6, 3.61, 40, 100, 900, 5400, 7_200_000)]
    ['0.6 s', '3.6 s', '40 s', '1 min 40 s', '15 min', '1 h 30 min', '2,000 h']
    """
    if seconds < 9.95:
        return f"{seconds:.2g} s"
    if seconds >= 100 * 3600:
        return f"{seconds / 3600:,.0f} h"
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    units = ("min", "s") if round(seconds) < 3600 else ("h", "min")
    large, small = divmod(round(seconds if units[1] == "s" else seconds / 60), 60)
    return f"{large} {units[0]} {small} {units[1]}" if small else f"{large} {units[0]}"
