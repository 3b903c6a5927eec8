"""Reads documents from JSON lines or Parquet: each row has a text, and may have a title and a language.

Memory is bounded by LINE_BYTES.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from stele.errors import SteleError
from stele.files.reading import open_unpacked, parse_json, reading

LINE_BYTES = 32 << 20  # bytes; a longer line of JSON is skipped
BATCH = 256  # rows of a Parquet file that are held at a time
BAD_SHARE = 0.01  # with more unreadable lines it is another kind of file
LANGUAGE_CODE = re.compile("[a-z]{2,8}")
COLUMNS = ("text", "title", "language")


class DocumentRow(NamedTuple):
    """A document. In a row without a title `title` is "", without a language `language` is None."""

    text: str
    title: str
    language: str | None


def document_rows(path: Path, skipped: Counter[str]) -> Iterator[DocumentRow]:
    """Yields the rows of a file that have a text; counts all others in `skipped`, by reason.

    Raises SteleError for a file without the column `text`, one with too many lines that are not JSON, and a language
    that is not a code.
    """
    with reading(path), open(path, "rb") as handle:
        is_parquet = handle.read(4) == b"PAR1"
    rows = _parquet_rows(path) if is_parquet else _json_rows(path, skipped)
    number = texts = 0
    keys: set[str] = set()
    for number, (where, values) in enumerate(rows, start=1):
        keys |= values.keys() if number < 100 else set()
        text = values.get("text")
        texts += isinstance(text, str)  # a shard may have only blank texts
        if not isinstance(text, str) or not text.strip():
            skipped["rows_without_text"] += 1
            continue
        title = values.get("title")
        yield DocumentRow(text, title if isinstance(title, str) else "", _language(values.get("language"), where))
    if number and not texts:
        raise SteleError(f"{path}: no row has a `text`; found {', '.join(sorted(keys)) or 'no keys'}")


def _language(value: Any, where: str) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not LANGUAGE_CODE.fullmatch(value):
        raise SteleError(f"{where}: language {value!r}: want a code of 2 to 8 small letters, such as de")
    return value


def _json_rows(path: Path, skipped: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    number = bad = 0
    first_bad = ""
    with open_unpacked(path) as handle:
        while line := handle.readline(LINE_BYTES):
            number += 1
            if len(line) == LINE_BYTES and not line.endswith(b"\n"):
                while (rest := handle.readline(LINE_BYTES)) and not rest.endswith(b"\n"):
                    pass
                skipped["lines_too_long"] += 1
                continue
            if not line.strip():
                continue
            try:
                values = parse_json(line, f"{path}, line {number}", "line of JSON", "mend it")
                if not isinstance(values, dict):
                    raise SteleError(f"{path}, line {number}: want a JSON object")
            except SteleError as error:
                bad += 1
                first_bad = first_bad or str(error)
                skipped["lines_not_json"] += 1
                continue
            yield f"{path}, line {number}", values
    if bad > BAD_SHARE * number:
        raise SteleError(f"{bad} of {number} lines are not JSON objects in UTF-8; the first is {first_bad}")


def _parquet_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    import pyarrow.parquet
    from pyarrow import types

    with reading(path, "Parquet file"), pyarrow.parquet.ParquetFile(path) as table:
        schema = table.schema_arrow
        if "text" not in schema.names:
            raise SteleError(f"{path}: no column `text`; found {', '.join(schema.names)}")
        columns = [name for name in COLUMNS if name in schema.names]
        for name in columns:
            kind = schema.field(name).type
            kind = kind.value_type if types.is_dictionary(kind) else kind
            is_text = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
            if not any(of_kind(kind) for of_kind in is_text):
                raise SteleError(f"{path}: column `{name}` holds {kind}, want texts")
        number = 0
        for batch in table.iter_batches(BATCH, columns=columns):
            for values in batch.to_pylist():
                number += 1
                yield f"{path}, row {number}", values
