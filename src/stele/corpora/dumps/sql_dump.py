"""The table wb_items_per_site of an SQL dump, read by grammar: streamed, about a megabyte of rows at a time.

A dump consists of statements that end with a semicolon, independent of line ends: mysqldump and mariadb-dump write an
INSERT's rows on one line or on a line each, with or without column names, in any order. Numpy finds the brackets,
commas and semicolons outside of string literals in all bytes at once; every row is checked (`sql_literals.py` reads the
values). Table: https://www.mediawiki.org/wiki/Wikibase/Schema/wb_items_per_site
"""

import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stele.corpora.dumps.sql_literals import (
    QUOTE,
    escaped,
    meaning,
    numbers_before,
    slices,
    string_bounds,
    trimmed,
    without_escapes,
)
from stele.errors import SteleError
from stele.files.reading import reading

TABLE, ITEM, SITE, TITLE = "wb_items_per_site", "ips_item_id", "ips_site_id", "ips_site_page"
LONGEST = 1 << 24  # bytes of a row, or of a statement without rows
CHUNK, AHEAD = 1 << 22, 1 << 16  # bytes read at once; most bytes of a statement's beginning or a comment
_NAME = rb'(?:`([^`]+)`|"([^"]+)"|(\w+))'
_BLANK = re.compile(rb"(?:\s++|--(?=\s)[^\n]*+|#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+")
_INSERT = re.compile(
    rb"(?:INSERT|REPLACE)\s+(?:(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE)\s+)*+(?:INTO\s+)?"
    rb"(?:" + _NAME + rb"\s*\.\s*)?" + _NAME + rb"\s*(?:\(([^()]*+)\)\s*)?VALUES?(?=[\s(])\s*+",
    re.I,
)
_STATEMENT = re.compile(
    rb"(?:[^;'\"`#/-]++|'(?:[^'\\]++|\\.)*+'|\"(?:[^\"\\]++|\\.)*+\"|`[^`]*+`|--(?=\s)[^\n]*+|#[^\n]*+"
    rb"|/\*(?:[^*]++|\*(?!/))*+\*/|[-/])*+;",
    re.S,
)
_CREATE = re.compile(
    rb"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:" + _NAME + rb"\s*\.\s*)?" + _NAME + rb"\s*\(", re.I
)
_NO_COLUMN = re.compile(rb"(?:PRIMARY|UNIQUE|FOREIGN|FULLTEXT|SPATIAL|CONSTRAINT|PERIOD|CHECK|KEY|INDEX)\b", re.I)
_COMMA, _OPEN, _CLOSE, _SEMICOLON = b",();"
_NESTED = re.compile(rb"'(?:[^'\\]++|\\.)*+(?:'|\Z)|\([^()']*+\)", re.S)


class Rows(NamedTuple):
    """Rows of the wanted sites, in the order of the table; each array has one entry for each row.

    sites   int64 [n], indices into the wanted sites
    items   int64 [n], item numbers
    titles  binary [n], page titles without escapes
    """

    sites: np.ndarray
    items: np.ndarray
    titles: pa.Array


class _Input:
    """Decompressing reader of a .sql.gz: `text` from `at` on is unread; `progress` gets each read's compressed size."""

    def __init__(self, path: Path, progress: Callable[[int], None]) -> None:
        self.raw = open(path, "rb")  # noqa: SIM115
        self.plain = gzip.GzipFile(fileobj=self.raw)
        self.progress, self.seen = progress, 0
        self.text, self.at, self.ended = b"", 0, False

    def fill(self) -> bool:
        """Reads the next chunk. Returns whether there was one."""
        chunk = self.plain.read(CHUNK)
        self.text, self.at, self.ended = self.text[self.at :] + chunk, 0, not chunk
        self.progress(self.raw.tell() - self.seen)
        self.seen = self.raw.tell()
        return not self.ended

    def close(self) -> None:
        self.plain.close()
        self.raw.close()


def read_rows(path: Path, sites: Sequence[str], progress: Callable[[int], None]) -> Iterator[tuple[int, Rows]]:
    """Reads the table in a .sql.gz. Yields for each block (its number of rows, the `Rows` of the wanted sites).

    `progress` gets the number of compressed bytes read since its last call. Raises SteleError for another table, a
    missing column, rows of another shape, and a damaged or truncated file.
    """
    columns: list[str] = []  # known after CREATE TABLE
    inserts, created, locked = 0, False, False
    wanted = pa.array([site.encode() for site in sites], pa.binary())
    with reading(path, "mysqldump", "fetch it again"), closing(_Input(path, progress)) as source:
        while _begin_statement(source):
            if insert := _INSERT.match(source.text, source.at):
                layout = _layout(insert, columns, path)
                inserts += 1
                source.at = insert.end()
                yield from _rows_of_statement(source, layout, wanted, f"{path}, INSERT {inserts}")
                continue
            statement = _whole_statement(source, path, created)
            if create := _CREATE.match(statement):
                if (table := _name(create.groups()[3:])) != TABLE:
                    raise SteleError(f"{path}: found a dump of the table {table}, want {TABLE}")
                columns, created = _created_columns(statement[create.end() :]), True
            words = statement[:16].upper().split()
            locked = words[:2] == [b"LOCK", b"TABLES"] or (locked and words[:1] != [b"UNLOCK"])
    if not created and not inserts:
        raise SteleError(f"{path}: no CREATE TABLE in it: not a mysqldump of {TABLE}")
    if not inserts:
        raise SteleError(f"{path}: the table has no rows; delete the file and fetch it again")
    if locked:
        raise SteleError(f"{path}: ends before its UNLOCK TABLES, so the dump was cut short; fetch it again")


def _begin_statement(source: _Input) -> bool:
    """Skips white space and comments before the next statement. Returns whether there is one."""
    while True:
        while len(source.text) - source.at < AHEAD and not source.ended:
            source.fill()
        begin = source.at
        source.at = _BLANK.match(source.text, begin).end()
        if source.at == begin:
            return begin < len(source.text)


def _whole_statement(source: _Input, path: Path, created: bool) -> bytes:
    while not (whole := _STATEMENT.match(source.text, source.at)):
        if len(source.text) - source.at > LONGEST:
            raise SteleError(f"{path}: found a statement of more than {LONGEST >> 20} MB: not a mysqldump of {TABLE}")
        if not source.fill():
            if created:
                raise SteleError(f"{path}: ends within a statement, so the dump was cut short; fetch it again")
            raise SteleError(f"{path}: no CREATE TABLE in it: not a mysqldump of {TABLE}")
    source.at = whole.end()
    return whole.group()


def _name(parts: Sequence[bytes | None]) -> str:
    return next(part for part in parts if part is not None).decode(errors="replace")


def _created_columns(body: bytes) -> list[str]:
    for _ in range(4):  # types and keys nest no deeper
        body = _NESTED.sub(b" ", body)
    definitions = [part.strip() for part in body.partition(b")")[0].split(b",")]
    names = (re.match(_NAME, part) for part in definitions if not _NO_COLUMN.match(part))
    return [_name(name.groups()) for name in names if name]


def _layout(insert: re.Match[bytes], columns: list[str], path: Path) -> list[str]:
    """Names of an INSERT's columns, in order. Raises SteleError for another table or a missing column."""
    if (table := _name(insert.groups()[3:6])) != TABLE:
        raise SteleError(f"{path}: found rows of {table}, want rows of {TABLE}")
    if insert.group(7) is not None:
        columns = [_name(name.groups()) for name in re.finditer(_NAME, insert.group(7))]
    if not {ITEM, SITE, TITLE} <= set(columns):
        present = f"columns {', '.join(columns)}" if columns else "no CREATE TABLE before its rows"
        raise SteleError(f"{path}: found {present}, want a mysqldump of {TABLE} with {ITEM}, {SITE}, {TITLE}")
    return columns


def _rows_of_statement(
    source: _Input, columns: Sequence[str], wanted: pa.Array, where: str
) -> Iterator[tuple[int, Rows]]:
    """Yields the rows from the input's position, after VALUES, to the end of the statement."""
    window, done, looks_ended = CHUNK, 0, True
    while True:
        end = _apparent_end(source.text, source.at, source.at + window) if looks_ended else -1
        looks_ended = end >= 0
        block = source.text[source.at : end if looks_ended else source.at + window]
        bounds, used, ended = _row_bounds(block, len(columns), f"{where}, row", done)
        if len(bounds):
            yield len(bounds), _rows(block, bounds, columns, wanted, f"{where}, row", done)
        done += len(bounds)
        source.at += used
        if ended:
            return
        if looks_ended:
            looks_ended = False
            continue
        looks_ended = used > 0
        if len(block) == window:
            window = window if used else 4 * window
        elif not source.fill():
            raise SteleError(f"{where}: does not end with a whole row, so the dump is damaged; fetch it again")
        if max(window, len(source.text) - source.at - CHUNK) > LONGEST:
            raise SteleError(f"{where}: found a row of more than {LONGEST >> 20} MB: not a mysqldump of {TABLE}")


def _apparent_end(text: bytes, begin: int, stop: int) -> int:
    """Position where a statement seems to end (a literal may look like an end); -1 if there is none before `stop`.

    Thanks to it, no byte of the next statement is parsed twice.
    """
    newline = text.find(b"\n", begin, stop)  # a fast path (10x) for statements of one line
    if newline > begin + 1 and text[newline - 1] == _SEMICOLON:
        return newline
    end = text.find(b");\n", max(newline, begin), stop) if newline >= 0 else -1
    return end + 2 if end >= 0 else -1


def _row_bounds(block: bytes, columns: int, where: str, done: int) -> tuple[np.ndarray, int, bool]:
    """Finds the complete rows in bytes that begin outside of a row. Returns (positions of each row's brackets and
    commas and of the comma after it, int64 [rows, columns + 2]; bytes used; whether the statement has ended).
    """
    text, places, kinds = _structure(block)
    ends = np.flatnonzero(kinds == _SEMICOLON)
    ended = len(ends) > 0
    if ended:
        places, kinds = places[: ends[0] + 1], kinds[: ends[0] + 1].copy()
        kinds[-1] = _COMMA
    pattern = np.array([_OPEN, *[_COMMA] * (columns - 1), _CLOSE, _COMMA], np.uint8)
    rows = len(places) // len(pattern)
    whole = rows * len(pattern)
    bounds = places[:whole].reshape(rows, len(pattern))
    right = kinds[:whole].reshape(bounds.shape) == pattern
    right = np.ones(rows, bool) if right.all() else right.all(1)
    for begins, stops in (
        (np.concatenate([[0], bounds[:-1, -1] + 1]), bounds[:, 0]),
        (bounds[:, -2] + 1, bounds[:, -1]),
    ):
        gaps = np.flatnonzero(begins[:rows] != stops)  # where only white space may stand between
        right[gaps] &= trimmed(text, begins[gaps], stops[gaps])[0] == stops[gaps]
    if not right.all() or (ended and whole < len(places)):
        row = int(np.argmin(right)) if not right.all() else rows
        begin = int(bounds[row - 1, -1]) + 1 if row else 0
        stop = block.find(b")", begin) + 1 or len(block)
        raise SteleError(
            f"{where} {done + row + 1}: found {block[begin:stop].strip()[:80]!r}, want {columns} values in brackets"
        )
    used = int(places[whole - 1]) + 1 if whole else 0
    return bounds, used, ended


def _structure(block: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns (the bytes; positions of brackets, commas, semicolons outside of literals; the byte at each)."""
    text = np.frombuffer(block, np.uint8)
    places = np.flatnonzero((text - QUOTE < 6) | (text == _SEMICOLON))  # '()*+, and ;
    kinds = text[places]
    outside = (kinds > QUOTE) & (kinds != ord("*")) & (kinds != ord("+"))
    quotes = np.flatnonzero(kinds == QUOTE)
    quotes = quotes[~escaped(text, places[quotes])]
    if len(quotes) % 2:  # the last literal goes on behind these bytes
        outside[quotes[-1] :] = False
    firsts, lengths = quotes[:-1:2] + 1, quotes[1::2] - quotes[:-1:2] - 1
    outside[_ranges(firsts, lengths)] = False
    chosen = np.flatnonzero(outside)
    return text, places[chosen], kinds[chosen]


def _ranges(firsts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Concatenates the numbers first, first + 1, ... of all ranges, int64.

    >>> _ranges(np.array([3, 8]), np.array([2, 1])).tolist()
    [3, 4, 8]
    """
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) + np.repeat(firsts - ends + lengths, lengths)


def _rows(block: bytes, bounds: np.ndarray, columns: Sequence[str], wanted: pa.Array, where: str, done: int) -> Rows:
    text, buffer = np.frombuffer(block, np.uint8), pa.py_buffer(block)

    def column(name: str, rows: np.ndarray | slice = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        number = columns.index(name)
        return bounds[rows, number] + 1, bounds[rows, number + 1]

    begins, ends = column(ITEM)
    items, before = numbers_before(text, ends)
    if not np.array_equal(before, begins - 1):
        begins, ends = trimmed(text, begins, ends)
        items, before = numbers_before(text, ends)
    for row in np.flatnonzero((before != begins - 1) | (begins == ends)):
        number = meaning(block[begins[row] : ends[row]])
        if not (number or b"").isdigit():
            row_text = block[bounds[row, 0] : bounds[row, -2] + 1][:80]
            raise SteleError(f"{where} {done + row + 1}: found {row_text!r}, want a number as {ITEM}")
        items[row] = int(number)
    begins, ends, plain = string_bounds(text, *column(SITE))
    index = pc.index_in(slices(buffer, begins[plain], ends[plain]), wanted).fill_null(-1).to_numpy()
    if not plain.all():
        names, sites = wanted.to_pylist(), np.full(len(plain), -1)
        sites[plain] = index
        for row in np.flatnonzero(~plain):
            site = meaning(block[begins[row] : ends[row]])
            sites[row] = names.index(site) if site in names else -1
        index = sites
    chosen = np.flatnonzero(index >= 0)
    begins, ends, plain = string_bounds(text, *column(TITLE, chosen))
    if plain.all():
        titles = without_escapes(slices(buffer, begins, ends))
    else:
        literals = [
            block[begin - quoted : end + quoted] for begin, end, quoted in zip(begins, ends, plain, strict=True)
        ]
        titles = pa.array(map(meaning, literals), pa.binary())
        if titles.null_count:
            row = int(chosen[titles.is_null().to_numpy(zero_copy_only=False)][0])
            raise SteleError(f"{where} {done + row + 1}: found NULL, want a title as {TITLE}")
    return Rows(index[chosen], items[chosen], titles)
