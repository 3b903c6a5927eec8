"""Damage to a file, drawn from a seeded generator: cut, flipped, emptied, nested, wrong types, odd text."""

import bz2
import gzip
import io
import json
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable
from datetime import date
from typing import Any

import pyarrow
import pyarrow.parquet

# what parsers trip over: numbers that Python reads and the formats do not have, sizes, halves of characters, structure
ODD = (
    b"", b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\r", b"\n\n", b"\t", b" ", b'"', b"'", b"\\", b"\\ud800", b"<",
    b"&", b"{", b"}", b"[", b"]", b",", b":", b"-1", b"nan", b"NaN", b"Infinity", b"1e999", b"9" * 400, b"9" * 5000,
    b"1_0", "\u0661".encode(), "\u2028".encode(), b"null", b"true", b"<!DOCTYPE x>", b"&lt;", b"%s", b"../x",
    b"(1,", b"');",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 10**400, float("nan"), float("inf"), "", "x", "\ud800", "a b", [], [None], [[1]], {},
    {"": None},
)  # fmt: skip
PACKED = {
    b"\x1f\x8b": (gzip.decompress, gzip.compress),
    b"BZh": (bz2.decompress, bz2.compress),
    b"\xfd7z": (lzma.decompress, lzma.compress),
}


def damaged(valid: bytes, draw: random.Random) -> bytes:
    """One damaged version of a file's content; of a compressed one, of what is in it two times in three."""
    for magic, (unpack, pack) in PACKED.items():
        if valid.startswith(magic) and draw.random() < 2 / 3:
            return pack(damaged(unpack(valid), draw))
    for is_one, change in FORMATS:
        if is_one(valid) and draw.random() < 2 / 3:
            return change(valid, draw)
    if draw.random() < 0.5 and (changed := _other_value(valid, draw)) is not None:
        return changed
    return draw.choice((_cut, _flipped, _emptied, _nested, _with_odd, _with_odd, _with_odd, _twice))(valid, draw)


def _in_member(valid: bytes, draw: random.Random) -> bytes:
    """A zip with one of its members damaged, the archive itself sound."""
    with zipfile.ZipFile(io.BytesIO(valid)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if filled := [name for name, content in members.items() if content]:
        members[name] = damaged(members[name := draw.choice(filled)], draw)
    with zipfile.ZipFile(buffer := io.BytesIO(), "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _other_header(valid: bytes, draw: random.Random) -> bytes:
    """A tar with odd values in the headers of a member: extended ones, or fields under a right checksum; or cut."""
    with tarfile.open(fileobj=io.BytesIO(valid)) as archive:
        members = [(info, archive.extractfile(info).read()) for info in archive.getmembers() if info.isreg()]
    with tarfile.open(fileobj=(buffer := io.BytesIO()), mode="w", format=tarfile.PAX_FORMAT) as archive:
        for info, content in members:
            info.pax_headers = {draw.choice(EXTENDED): draw.choice(TEXTS) for _ in range(draw.choice((0, 1, 2)))}
            archive.addfile(info, io.BytesIO(content))
    content = bytearray(buffer.getvalue())
    blocks = [at for at in range(0, len(content), 512) if content[at + 257 : at + 262] == b"ustar"]
    if draw.random() < 0.2:
        return bytes(content[: draw.choice(blocks)])
    at, field = draw.choice(blocks), draw.choice((0, 100, 124, 124, 136, 156, 157, 257, 345))
    value = draw.choice((draw.randbytes(12), b"\x80" + draw.randbytes(11), b"\xff" * 12, b"-0000000001\0", b"x", b"S"))
    if draw.random() < 0.5:
        content[at + field : at + field + len(value)] = value
    content[at + 148 : at + 156] = b" " * 8
    content[at + 148 : at + 156] = b"%06o\0 " % sum(content[at : at + 512])
    return bytes(content)


def _other_column(valid: bytes, draw: random.Random) -> bytes:
    """A sound Parquet file with a column of another type, one column less, or one twice."""
    table = pyarrow.parquet.read_table(io.BytesIO(valid))
    column, rows = draw.randrange(table.num_columns), table.num_rows
    values = pyarrow.array([draw.choice(values := draw.choice(COLUMNS)), *values * rows][:rows])
    name, kind = table.column_names[column], draw.random()
    if kind < 0.8:
        table = table.set_column(column, name, values)
    elif kind < 0.9 and table.num_columns > 1:
        table = table.remove_column(column)
    else:
        table = table.append_column(name, values)
    pyarrow.parquet.write_table(table, buffer := io.BytesIO())
    return buffer.getvalue()


EXTENDED = ("size", "path", "mtime", "uid", "linkpath", "GNU.sparse.size", "GNU.sparse.map", "GNU.sparse.major",
            "GNU.sparse.realsize", "hdrcharset")  # fmt: skip
TEXTS = (
    "-1", "9" * 30, "1" * 5000, "1e5", "nan", "", "x", "\u00b2", "-9999999999", "1,2,3", "BINARY", "\0", "../x", "1",
)  # fmt: skip
COLUMNS: tuple[list[Any], ...] = (
    [{"a": 1}, None], [[{"a": 1}], None], [["x"], [None]], [1, 2], [None], [b"\xff", b"x"], [1.5, float("nan")],
    [True, None], [10**18], ["x", None], [[0], [9]], [[-1], [0]], [[0], None], [[0], [None]], [date(1, 1, 1)],
)  # fmt: skip
FORMATS: tuple[tuple[Callable[[bytes], bool], Callable[[bytes, random.Random], bytes]], ...] = (
    (lambda content: content.startswith(b"PK\3\4"), _in_member),
    (lambda content: content[257:262] == b"ustar", _other_header),
    (lambda content: content.startswith(b"PAR1"), _other_column),
)


def _cut(valid: bytes, draw: random.Random) -> bytes:
    return valid[: draw.randrange(len(valid))]


def _flipped(valid: bytes, draw: random.Random) -> bytes:
    content = bytearray(valid)
    for _ in range(draw.choice((1, 1, 2, 8))):
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


def _emptied(valid: bytes, draw: random.Random) -> bytes:
    return draw.choice((b"", b"\n", b"{}", b"[]", b"null", b"\0" * 64))


def _nested(valid: bytes, draw: random.Random) -> bytes:
    depth, at = draw.choice((3, 2_000)), draw.randrange(len(valid))
    opened, closed = draw.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"<a>", b"</a>"), (b"(", b")")))
    return valid[:at] + opened * depth + b"1" + closed * depth + valid[at:]


def _with_odd(valid: bytes, draw: random.Random) -> bytes:
    at = draw.randrange(len(valid))
    return valid[:at] + draw.choice(ODD) + valid[at + draw.choice((0, 0, 1, 3)) :]


def _twice(valid: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(valid))
    end = draw.randrange(start, len(valid)) + 1
    return valid[:end] + valid[start:end] + valid[end:]


def _other_value(valid: bytes, draw: random.Random) -> bytes | None:
    """A JSON text, or one of several a line, with one value in it changed or left out; None for other files."""
    try:
        values = [json.loads(valid)]
    except ValueError:
        try:
            values = [json.loads(line) for line in valid.splitlines() if line.strip()]
        except ValueError:
            return None
    if not values:
        return None
    number = draw.randrange(len(values))
    values[number] = _changed(values[number], draw)
    return "\n".join(map(json.dumps, values)).encode()


def _changed(value: Any, draw: random.Random) -> Any:
    places = list(_places(value))
    if not places or draw.random() < 0.1:
        return draw.choice(VALUES)
    holder, key = draw.choice(places)
    if draw.random() < 0.2:
        del holder[key]
    else:
        holder[key] = draw.choice(VALUES)
    return value


def _places(value: Any):
    """(object or list, key) of every value below one."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
