"""CSV that a spreadsheet shows and does not run: what would begin a formula there has an apostrophe in front.

Only texts: a number keeps its sign. A cell that begins with apostrophes and then such a sign gets one more, so that
taking one away gives every text back (docs/tables.md has the line that does).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import IO, Any

from stele.files.characters import neutralised

END = "\r\n"
_FORMULA = re.compile(
    r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
)  # the last four: wide forms, which East Asian editions run
_NUMBER = re.compile(r"[+-]?(\d[\d,]*\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)|-", re.ASCII)  # or a dash for none


def cell(value: Any) -> Any:
    """One cell as it is written.

    >>> [cell(value) for value in (-1.2, "-1.2", "+ RR", "=HYPERLINK(1)", "'=1", "it's", "-")]
    [-1.2, '-1.2', "'+ RR", "'=HYPERLINK(1)", "''=1", "it's", '-']
    """
    if not isinstance(value, str):
        return value
    text = neutralised(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def text(cell: str) -> str:
    """What a cell was before it was written, but for characters that no output shows.

    >>> [text(cell) for cell in ("-1.2", "'+ RR", "''=1", "it's", "'s")]
    ['-1.2', '+ RR', "'=1", "it's", "'s"]
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def write_csv(handle: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Writes rows, the header among them, to an open file (opened with newline="" or a fixed one)."""
    for row in rows:
        line = io.StringIO(newline="")
        csv.writer(line).writerow([cell(value) for value in row])  # by its own end of line it quotes both \r and \n
        handle.write(f"{line.getvalue().removesuffix(END)}\n")
