"""The table wb_items_per_site of an SQL dump, read by grammar: streamed, some megabytes of rows at a time.

A dump consists of statements that end with a semicolon, independent of line ends: mysqldump and mariadb-dump write an
INSERT's rows on one line or on a line each, with or without column names, in any order. Every row is checked.
Table: https://www.mediawiki.org/wiki/Wikibase/Schema/wb_items_per_site
Literals: https://mariadb.com/docs/server/reference/sql-structure/sql-language-structure/string-literals
"""

import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path

from stele.errors import SteleError
from stele.files.reading import reading

TABLE, ITEM, SITE, TITLE = "wb_items_per_site", "ips_item_id", "ips_site_id", "ips_site_page"
LONGEST = 1 << 24  # bytes of a row, or of a statement without rows
CHUNK, AHEAD = 1 << 20, 1 << 16  # bytes read at once; most bytes of a statement's beginning or a comment
_NAME = rb'(?:`([^`]+)`|"([^"]+)"|(\w+))'
_COMMENT = rb"--(?=\s)[^\n]*+|#[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/"
_QUOTED = rb"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
_STRING = _QUOTED + rb"|\"[^\"\\]*+(?:\\.[^\"\\]*+)*+\""
_DIGITS, _VALUE = rb"[0-9]++", rb"[^'\"(),;]*+(?:(?:" + _STRING + rb")[^'\"(),;]*+)*+"
_BLANK = re.compile(rb"(?:\s++|" + _COMMENT + rb")*+")
_INSERT = re.compile(
    rb"(?:INSERT|REPLACE)\s+(?:(?:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE)\s+)*+(?:INTO\s+)?"
    rb"(?:" + _NAME + rb"\s*\.\s*)?" + _NAME + rb"\s*(?:\(([^()]*+)\)\s*)?VALUES?(?=[\s(])\s*+",
    re.I,
)
_STATEMENT = re.compile(rb"(?:[^;'\"`#/-]++|" + _STRING + rb"|`[^`]*+`|" + _COMMENT + rb"|[-/])*+;", re.S)
_CREATE = re.compile(
    rb"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:" + _NAME + rb"\s*\.\s*)?" + _NAME + rb"\s*\(", re.I
)
_NO_COLUMN = re.compile(rb"(?:PRIMARY|UNIQUE|FOREIGN|FULLTEXT|SPATIAL|CONSTRAINT|PERIOD|CHECK|KEY|INDEX)\b", re.I)
_NESTED = re.compile(rb"'(?:[^'\\]++|\\.)*+(?:'|\Z)|\([^()']*+\)", re.S)
# what is no row, nor the beginning of one that goes on behind these bytes
_NO_ROW = re.compile(rb"\s*+(?:[^(\s]|\(" + _VALUE + rb"(?:," + _VALUE + rb")*+(?:[(;]|\)\s*+\S))", re.S)
_CHARSET = re.compile(rb"_(?:binary|utf8(?:mb[34])?)\s*(?=['\"0xX])", re.I)  # others would need decoding
_ESCAPE = re.compile(rb"\\(.)|''|'\s+'", re.S)  # adjacent literals are one
_MEANT = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"Z": b"\x1a"}

SITES = 1 << 12  # literals of sites whose meaning is cached

Row = tuple[str, int, bytes]  # of a wanted site: the site, the item's number, the page's title without escapes


class _Input:
    """A dump's text, read block by block; `text` from `at` on is unread."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self.blocks, self.text, self.at = blocks, b"", 0

    def fill(self) -> bool:
        """Reads the next block. Returns whether there was one."""
        block = next(self.blocks, b"")
        self.text, self.at = self.text[self.at :] + block, 0
        return bool(block)


def read_rows(path: Path, sites: Sequence[str], progress: Callable[[int], None]) -> Iterator[tuple[int, list[Row]]]:
    """Reads the table in a .sql.gz. Yields for each block (its number of rows, the rows of the wanted sites in order).

    `progress` gets the number of compressed bytes read since its last call. Raises SteleError for another table, a
    missing column, rows of another shape, and a damaged or truncated file.
    """
    columns: list[str] = []  # known after CREATE TABLE
    inserts, created, locked = 0, False, False
    with reading(path, "mysqldump", "fetch it again"):
        source = _Input(_blocks(path, progress))
        while _begin_statement(source):
            if insert := _INSERT.match(source.text, source.at):
                layout = _layout(insert, columns, path)
                inserts += 1
                source.at = insert.end()
                yield from _rows_of_statement(source, layout, sites, f"{path}, INSERT {inserts}")
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


def _blocks(path: Path, progress: Callable[[int], None]) -> Iterator[bytes]:
    seen = 0
    with open(path, "rb") as raw, gzip.open(raw) as plain:
        while block := plain.read(CHUNK):
            progress(raw.tell() - seen)
            seen = raw.tell()
            yield block


def _begin_statement(source: _Input) -> bool:
    """Skips white space and comments before the next statement. Returns whether there is one."""
    while True:
        while len(source.text) - source.at < AHEAD and source.fill():
            pass
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
    source: _Input, columns: Sequence[str], sites: Sequence[str], where: str
) -> Iterator[tuple[int, list[Row]]]:
    """Yields the rows from the input's position, after VALUES, to the end of the statement."""
    wanted, done = {site.encode(): site for site in sites}, 0
    site_of = lru_cache(SITES)(lambda literal: wanted.get(meaning(literal)))
    patterns = _row_or_rest(tuple(columns), tuple(wanted)), _row_or_rest(tuple(columns))
    while True:
        line_end = source.text.find(b";\n", source.at) + 1 or len(source.text)
        # mysqldump's own layout, a statement on a line, is read twice as fast as any other
        for pattern, end in zip(patterns, (line_end, len(source.text)), strict=True):
            rows = pattern.findall(source.text, source.at, end)
            rest = rows.pop()[-1] if rows and rows[-1][-1] else b""
            if rows:
                break
        if rows:
            yield len(rows), list(_wanted_rows(rows, pattern, site_of, source, f"{where}, row", done))
            done += len(rows)
            source.at = end - len(rest)
            if source.text[source.at - 1] != ord(","):
                source.at += 1  # the semicolon
                return
        elif _NO_ROW.match(rest):
            row = rest[: rest.find(b")") + 1 or None].strip()[:80]
            raise SteleError(f"{where}, row {done + 1}: found {row!r}, want {len(columns)} values in brackets")
        elif len(rest) > LONGEST:
            raise SteleError(f"{where}: found a row of more than {LONGEST >> 20} MB: not a mysqldump of {TABLE}")
        elif not source.fill():
            raise SteleError(f"{where}: does not end with a whole row, so the dump is damaged; fetch it again")


@cache
def _row_or_rest(columns: tuple[str, ...], sites: tuple[bytes, ...] = ()) -> re.Pattern[bytes]:
    """Compiles a pattern for a row, with groups for the values used; its last group is what follows the last row.

    With `sites`, a row must have plain numbers and strings, and the groups of other sites' rows are empty.
    """
    any_value = {ITEM: _VALUE, SITE: rb"(?=[^,)])" + _VALUE, TITLE: _VALUE}
    kinds = {ITEM: _DIGITS, SITE: rb"'[^'\\]*+'", TITLE: _QUOTED} if sites else any_value
    rows = [{name: b"(?P<%b>%b)" % (name.encode(), kind) for name, kind in kinds.items()}]
    if sites:
        rows.insert(0, kinds | {SITE: b"(?!'(?:" + b"|".join(map(re.escape, sites)) + b")')" + kinds[SITE]})
    values = b"|".join(b",".join(row.get(name, _VALUE) for name in columns) for row in rows)
    return re.compile(rb"\s*+\((?:" + values + rb")\)\s*+(?:,|(?=;))|(.++)", re.S)


def _wanted_rows(
    rows: Sequence[tuple[bytes, ...]],
    pattern: re.Pattern[bytes],
    site_of: Callable[[bytes], str | None],
    source: _Input,
    where: str,
    done: int,
) -> Iterator[Row]:
    item, site, title = (pattern.groupindex[name] - 1 for name in (ITEM, SITE, TITLE))
    for number, row in enumerate(rows):
        if not row[site]:  # of another site, in mysqldump's own layout
            continue
        digits = row[item]
        if not digits.isdigit() and not (digits := meaning(digits) or b"").isdigit():
            text = next(islice(pattern.finditer(source.text, source.at), number, None)).group()
            shown = text.strip().removesuffix(b",").rstrip()[:80]
            raise SteleError(f"{where} {done + number + 1}: found {shown!r}, want a number as {ITEM}")
        if name := site_of(row[site]):
            if (page := meaning(row[title])) is None:
                raise SteleError(f"{where} {done + number + 1}: found NULL, want a title as {TITLE}")
            yield name, int(digits), page


def meaning(literal: bytes) -> bytes | None:
    """Evaluates a literal of any kind to bytes, NULL to None. Raises ValueError for anything else."""
    written = literal.strip()
    if written[:1] == b"_":
        written = _CHARSET.sub(b"", written, count=1)
    if written[:1] == written[-1:] == b"'" and len(written) > 1:
        text = written[1:-1]
        return _ESCAPE.sub(_character, text) if b"\\" in text or b"'" in text else text
    if written[:1] == written[-1:] == b'"' and len(written) > 1:
        return _ESCAPE.sub(_character, written[1:-1].replace(b'""', b'"'))
    if written.upper() == b"NULL":
        return None
    if match := re.fullmatch(rb"0x([0-9a-fA-F]+)|[xX]'([0-9a-fA-F]*)'", written):
        digits = match.group(1) or match.group(2) or b""
        return bytes.fromhex((b"0" * (len(digits) % 2) + digits).decode())
    if match := re.fullmatch(rb"0b([01]+)|[bB]'([01]+)'", written):
        number = int(match.group(1) or match.group(2), 2)
        return number.to_bytes((number.bit_length() + 7) // 8 or 1, "big")
    if re.fullmatch(rb"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", written):
        return written.lstrip(b"+")
    raise ValueError(f"found {written[:80]!r}, want a string, a number or NULL")


def _character(match: re.Match[bytes]) -> bytes:
    sign = match.group(1)
    return _MEANT.get(sign, sign) if sign else b"'" if match.group() == b"''" else b""
