"""Literals of an SQL dump: their positions, which numpy finds in all rows at once, and the values that they denote.

Literals: https://mariadb.com/docs/server/reference/sql-structure/sql-language-structure/string-literals. A literal
other than a plain string or number (NULL, hexadecimal, binary) is parsed on its own.
"""

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

QUOTE, _UNDERSCORE, _BACKSLASH = b"'_\\"
_ZERO = np.uint8(ord("0"))
_SPACE = np.isin(np.arange(256), list(b" \t\r\n\f\v"))
_SPACES = 64  # bytes of white space around a literal or a row, at most
_BACKSLASHES = 1 << 10  # in a row: a title has at most 310 bytes, each with one before it
_DIGITS = 10  # of the largest unsigned number of 32 bits
_INTRODUCER = b"_binary "  # MySQL 8 writes it before a literal of a binary column
_CHARSET = re.compile(rb"_(?:binary|utf8(?:mb[34])?)\s*(?=['\"0xX])", re.I)  # others would need decoding
_ESCAPE = re.compile(rb"\\(.)|''|'\s+'", re.S)  # adjacent literals are one
_MEANT = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"Z": b"\x1a"}


def trimmed(text: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Trims white space from the ends of the ranges [begin, end); at least one byte must follow each range."""
    for _ in range(_SPACES):
        if not (blank := (begins < ends) & _SPACE[text[begins]]).any():
            break
        begins = begins + blank
    for _ in range(_SPACES):
        if not (blank := (begins < ends) & _SPACE[text[ends - 1]]).any():
            break
        ends = ends - blank
    return begins, ends


def escaped(text: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Whether an odd number of backslashes precedes each position, bool [n]; looks back `_BACKSLASHES` at most."""
    odd, behind = np.zeros(len(places), bool), np.arange(len(places))
    for distance in range(1, _BACKSLASHES + 1):
        behind = behind[text[places[behind] - distance] == _BACKSLASH]
        if not len(behind):
            break
        odd[behind] ^= True
    return odd


def numbers_before(text: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parses the numbers that end right before `ends`. Returns (values, position before each one), int64 [n]."""
    values, places = np.zeros(len(ends), np.int64), ends - 1
    in_number = np.ones(len(ends), bool)
    for power in 10 ** np.arange(_DIGITS):
        digits = text[places] - _ZERO  # unsigned: other characters give more than 9
        in_number &= digits <= 9
        values += np.multiply(digits * in_number, power)
        places -= in_number
    return values, places


def slices(buffer: pa.Buffer, begins: np.ndarray, ends: np.ndarray) -> pa.Array:
    """Cuts the ranges [begin, end) out of some bytes; the ranges must ascend and not overlap."""
    if not len(begins):
        return pa.array([], pa.binary())
    bounds = np.column_stack([begins, ends]).astype(np.int32)
    cut = pa.BinaryArray.from_buffers(pa.binary(), bounds.size - 1, [None, pa.py_buffer(bounds), buffer])
    return cut.take(pa.array(np.arange(0, bounds.size, 2)))  # the others lie between the literals


def string_bounds(text: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Locates the literals in [begin, end). Returns (begins, ends, whether each is a quoted string), [n] each.

    The bounds of a quoted string exclude its quotes, those of all literals exclude white space.
    """
    quoted = _quoted(text, begins, ends)
    if not quoted.all():
        begins, ends = trimmed(text, begins, ends)
        introduced = np.flatnonzero((text[begins] == _UNDERSCORE) & (ends - begins > len(_INTRODUCER)))
        places = begins[introduced, None] + np.arange(len(_INTRODUCER))
        begins = begins.copy()
        begins[introduced] += len(_INTRODUCER) * (text[places] == np.frombuffer(_INTRODUCER, np.uint8)).all(1)
        quoted = _quoted(text, begins, ends)
    return begins + quoted, ends - quoted, quoted


def _quoted(text: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return (ends - begins > 1) & (text[begins] == QUOTE) & (text[ends - 1] == QUOTE)


def meaning(written: bytes) -> bytes | None:
    """Evaluates a literal of any kind to bytes, NULL to None. Raises ValueError for anything else."""
    if written.upper() == b"NULL":
        return None
    written = _CHARSET.sub(b"", written)
    if written[:1] == written[-1:] == b"'" and len(written) > 1:
        return _ESCAPE.sub(_character, written[1:-1])
    if written[:1] == written[-1:] == b'"' and len(written) > 1:
        return _ESCAPE.sub(_character, written[1:-1].replace(b'""', b'"'))
    if match := re.fullmatch(rb"0x([0-9a-fA-F]+)|[xX]'([0-9a-fA-F]*)'", written):
        digits = match.group(1) or match.group(2) or b""
        return bytes.fromhex((b"0" * (len(digits) % 2) + digits).decode())
    if match := re.fullmatch(rb"0b([01]+)|[bB]'([01]+)'", written):
        number = int(match.group(1) or match.group(2), 2)
        return number.to_bytes((number.bit_length() + 7) // 8 or 1, "big")
    if re.fullmatch(rb"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", written):
        return written.lstrip(b"+")
    raise ValueError(f"found {written[:80]!r}, want a string, a number or NULL")


def without_escapes(titles: pa.Array) -> pa.Array:
    """Unescapes titles, given as literals without their quotation marks; a doubled quotation mark becomes one."""
    escaped = pc.or_(pc.match_substring(titles, b"\\"), pc.match_substring(titles, b"'"))
    if not pc.any(escaped).as_py():
        return titles
    plain = [_ESCAPE.sub(_character, title) for title in titles.filter(escaped).to_pylist()]
    return pc.replace_with_mask(titles, escaped, pa.array(plain, pa.binary()))


def _character(match: re.Match[bytes]) -> bytes:
    sign = match.group(1)
    return _MEANT.get(sign, sign) if sign else b"'" if match.group() == b"''" else b""
