"""The table wb_items_per_site as mysqldump writes it: streamed, a statement of about a megabyte at a time.

A statement is one line, `INSERT INTO t VALUES (1,5582,'enwiki','Vincent van Gogh'),(...);`: newlines in values are
escaped. A row holds two string literals, so its bounds are the quotes that no backslash escapes, four a row, which
numpy finds in the bytes of the whole statement; that each row has its commas and brackets where they belong is checked.
Layout: https://www.mediawiki.org/wiki/Wikibase/Schema/wb_items_per_site; escapes:
https://mariadb.com/docs/server/reference/sql-structure/sql-language-structure/string-literals
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stele.errors import SteleError
from stele.files.reading import reading

TABLE, COLUMNS = "wb_items_per_site", ("ips_row_id", "ips_item_id", "ips_site_id", "ips_site_page")
LONGEST = 1 << 27  # bytes of a line; the server that wrote it takes 16 MB at most
_CREATE, _COLUMN = re.compile(rb"CREATE TABLE (?:IF NOT EXISTS )?`(\w+)`"), re.compile(rb"\s+`(\w+)` ")
_INSERT, _VALUES = b"INSERT INTO ", b"INSERT INTO `%s` VALUES " % TABLE.encode()
_QUOTE, _BACKSLASH, _COMMA, _OPEN, _CLOSE = b"'\\,()"
_DIGITS = 10  # of the largest unsigned number of 32 bits
_ESCAPE = re.compile(rb"\\(.)", re.S)
_MEANT = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"Z": b"\x1a", b"\0": b"\\"}


class Rows(NamedTuple):
    """Rows of the wanted sites, in the order of the table: all three have one entry a row.

    sites   int64, index among the wanted sites
    items   int64, item numbers
    titles  binary, page titles without escapes
    """

    sites: np.ndarray
    items: np.ndarray
    titles: pa.Array


def read_rows(path: Path, sites: Sequence[str], progress: Callable[[int], None]) -> Iterator[tuple[int, Rows]]:
    """(rows in it, its rows of the wanted sites) of each INSERT of a .sql.gz.

    `progress` is called with the number of compressed bytes read since the last call. Another table, other columns,
    rows of another shape, damage and truncation are errors.
    """
    wanted = pa.array([site.encode() for site in sites], pa.binary())
    columns: list[str] | None = None  # of the table, once its CREATE TABLE is over
    table, inserts = "", 0
    for line in _lines(path, progress):
        if line.startswith(_INSERT):
            if columns is None or tuple(columns) != COLUMNS:
                present = "no CREATE TABLE before its rows" if columns is None else f"columns {', '.join(columns)}"
                raise SteleError(f"{path}: found {present}, want a mysqldump of {TABLE} with {', '.join(COLUMNS)}")
            if not line.startswith(_VALUES):
                raise SteleError(f"{path}: found {line[:60]!r}, want rows of {TABLE}")
            inserts += 1
            yield _rows(line, wanted, f"{path}, INSERT {inserts}")
        elif match := _CREATE.match(line):
            table, columns = match.group(1).decode(), []
            if table != TABLE:
                raise SteleError(f"{path}: a dump of the table {table}, want {TABLE}")
        elif table and not inserts and columns is not None and (match := _COLUMN.match(line)):
            columns.append(match.group(1).decode())
    if not table:
        raise SteleError(f"{path}: no CREATE TABLE in it: not a mysqldump of {TABLE}")
    if not inserts:
        raise SteleError(f"{path}: not one row in it; delete it and fetch it again")


def _lines(path: Path, progress: Callable[[int], None]) -> Iterator[bytes]:
    seen = 0
    with (
        reading(path, "mysqldump", "fetch it again"),
        open(path, "rb") as raw,
        gzip.GzipFile(fileobj=raw) as plain,
        io.BufferedReader(plain, 1 << 20) as lines,
    ):
        while line := lines.readline(LONGEST + 1):
            if len(line) > LONGEST:
                raise SteleError(f"{path}: a line of more than {LONGEST >> 20} MB: not a mysqldump")
            yield line
            progress(raw.tell() - seen)
            seen = raw.tell()


def _rows(line: bytes, wanted: pa.Array, where: str) -> tuple[int, Rows]:
    if b"\\\\" in line:
        line = line.replace(b"\\\\", b"\\\0")  # now a backslash before a quote always escapes it
    if b"_binary '" in line:
        line = line.replace(b"_binary '", b"'")  # what MySQL 8 writes before a literal of a binary column
    text = np.frombuffer(line, np.uint8)
    quotes = np.flatnonzero(text == _QUOTE)
    quotes = quotes[text[quotes - 1] != _BACKSLASH]
    if not len(quotes) or len(quotes) % 4 or line[quotes[-1] :].rstrip() != b"');":
        raise SteleError(f"{where}: does not end with a whole row: a damaged dump; fetch it again")
    site, site_end, title, title_end = quotes.reshape(-1, 4).T
    opens = np.concatenate([[len(_VALUES)], title_end[:-1] + 3])
    items, comma = _numbers_before(text, site - 1)
    right = (text[opens] == _OPEN) & (text[comma] == _COMMA) & (comma > opens + 1) & (text[site - 1] == _COMMA)
    right &= (text[site_end + 1] == _COMMA) & (title == site_end + 2) & (text[title_end + 1] == _CLOSE)
    right[:-1] &= text[title_end[:-1] + 2] == _COMMA
    if not right.all():
        row = int(np.argmin(right))
        row_text = line[opens[row] : title_end[row] + 2][:80]
        raise SteleError(f"{where}, row {row + 1}: found {row_text!r}, want (number,number,'site','title')")
    buffer = pa.py_buffer(line)
    index = pc.index_in(_slices(buffer, site + 1, site_end), wanted).fill_null(-1).to_numpy()
    chosen = np.flatnonzero(index >= 0)
    titles = _slices(buffer, title[chosen] + 1, title_end[chosen])
    return len(site), Rows(index[chosen], items[chosen], _without_escapes(titles))


def _numbers_before(text: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(values, positions of the byte before them) of the numbers whose last digit is right before `ends`."""
    values, begins = np.zeros(len(ends), np.int64), ends.copy()
    going = np.ones(len(ends), bool)
    for place in range(_DIGITS):
        digits = text[begins - 1].astype(np.int64) - ord("0")
        going &= (digits >= 0) & (digits <= 9)
        values += np.where(going, digits * 10**place, 0)
        begins -= going
    return values, begins - 1


def _slices(buffer: pa.Buffer, begins: np.ndarray, ends: np.ndarray) -> pa.Array:
    """The stretches [begin, end) of some bytes; in order, not overlapping."""
    if not len(begins):
        return pa.array([], pa.binary())
    bounds = np.column_stack([begins, ends]).astype(np.int32)
    cut = pa.BinaryArray.from_buffers(pa.binary(), bounds.size - 1, [None, pa.py_buffer(bounds), buffer])
    return cut.take(pa.array(np.arange(0, bounds.size, 2)))  # every other one lies between two stretches


def _without_escapes(titles: pa.Array) -> pa.Array:
    escaped = pc.match_substring(titles, b"\\")
    if not pc.any(escaped).as_py():
        return titles
    plain = [_ESCAPE.sub(_meant, title) for title in titles.filter(escaped).to_pylist()]
    return pc.replace_with_mask(titles, escaped, pa.array(plain, pa.binary()))


def _meant(match: re.Match[bytes]) -> bytes:
    return _MEANT.get(match.group(1), match.group(1))
