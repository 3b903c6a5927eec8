"""CSV that a spreadsheet shows and does not run: what would begin a formula there has an apostrophe in front.

Only texts: a number keeps its sign. A cell that begins with apostrophes and then such a sign gets one more, so that
taking one away gives every text back (docs/tables.md has the line that does).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO, Any

from stele.characters import neutralised

_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")  # the wide ones mean the same in East Asian editions
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


def write_csv(handle: IO[str], rows: Iterable[Iterable[Any]]) -> None:
    """Writes rows, the header among them, to an open file (opened with newline="" or a fixed one)."""
    csv.writer(handle, lineterminator="\n").writerows([cell(value) for value in row] for row in rows)
