"""Damage to a file, drawn from a seeded generator: cut, flipped, emptied, nested, wrong types, odd text."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
from typing import Any

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
    if draw.random() < 0.5 and (changed := _other_value(valid, draw)) is not None:
        return changed
    return draw.choice((_cut, _flipped, _emptied, _nested, _with_odd, _with_odd, _with_odd, _twice))(valid, draw)


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
