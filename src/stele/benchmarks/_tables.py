"""Read chosen columns of a Parquet file or a file of JSON lines; the first bytes tell them apart."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stele.benchmarks._files import below, field, identifier, json_lines
from stele.benchmarks.types import Passage
from stele.errors import SteleError
from stele.files.reading import JsonObject, reading

PARQUET = b"PAR1"  # the first bytes of each Parquet file
BATCH = 4096  # rows that are held at a time
FEW = 256  # rows that are held at a time if they may have pictures
# the files of an export: by `datasets` (train-00001-of-00003, until 2023 train-00001-of-00003-a09b74b3ef9c3b56),
# by the hub or Spark (0001, part-00001)
NUMBERED = re.compile(r"(.*?)([0-9]+(?=-of-)|(?<![0-9])0[0-9]{3,4})(?:-of-([0-9]{1,6})(?:-[0-9a-f]{16})?)?\.[^/]+")


def is_parquet(path: Path) -> bool:
    with reading(path), open(path, "rb") as handle:
        return handle.read(len(PARQUET)) == PARQUET


def column_names(path: Path) -> list[str]:
    """Names of a Parquet file's columns, or keys of the first object in a file of JSON lines."""
    if not is_parquet(path):
        return list(next(json_lines(path))[1])
    import pyarrow.parquet

    with reading(path, "Parquet file"):
        return pyarrow.parquet.read_schema(path).names


def filled_columns(path: Path, wanted: Collection[str]) -> list[str]:
    """Selects the `wanted` columns that have a value: anywhere in a Parquet file, or in a JSON file's first object."""
    if not is_parquet(path):
        first = next(json_lines(path))[1]
        return [name for name in wanted if first.get(name) is not None]
    import pyarrow.parquet

    with reading(path, "Parquet file"), pyarrow.parquet.ParquetFile(path) as table:
        present = [name for name in wanted if name in table.schema_arrow.names]
        return [
            name for name in present if any(len(b) > b[0].null_count for b in table.iter_batches(FEW, columns=[name]))
        ]


def tables(folder: Path) -> Sequence[Path]:
    """Finds the Parquet files below a folder, sorted, as the library `datasets` exports them."""
    return all_numbers(sorted(path for path in below(folder) if path.suffix == ".parquet"))


def all_numbers(paths: Sequence[Path]) -> Sequence[Path]:
    """Returns the paths. Raises SteleError if a numbered export lacks a file, or has only its beginning.

    Without a stated total (`NAME-00001-of-00003`) the numbers begin at 0 or 1, and their end is unknown.
    """
    exports: dict[tuple[str, str | None], dict[int, Path]] = {}
    for path in paths:
        if path.parent.name.startswith("partial-"):  # the hub converts the first gigabytes of a large data set
            raise SteleError(f"{path}: the beginning of an export, as its folder's name says; get all files")
        if match := NUMBERED.fullmatch(path.as_posix()):
            exports.setdefault((match[1], match[3]), {})[int(match[2])] = path
    for (_, total), numbered in exports.items():
        first, end = (0, int(total)) if total else (min(numbered), max(numbered) + 1)
        if first <= 1 and (lacking := sorted({*range(first, end)} - numbered.keys())):
            path = next(iter(numbered.values()))
            raise SteleError(f"{path}: file {lacking[0]} of {end} (from 0) is missing beside it; get all files again")
    return paths


def table_passages(path: Path, name: str, untitled: bool = False) -> Iterator[Passage]:
    """Yields the passages of a file with the columns `name` (the id), title and text; `untitled` allows no title."""
    columns = {name: None, "title": str, "text": str}
    for where, row in table_rows(path, columns, optional=["title"] if untitled else []):
        yield Passage(identifier(row[name], where, name), row["title"], row["text"])


def table_rows(
    path: Path, columns: Mapping[str, type | None], optional: Collection[str] = ()
) -> Iterator[tuple[str, JsonObject]]:
    """Yields ("file, line N" or "file, row N", {column: value}) for each row.

    `columns` maps each column to the type of its values (None: any type). `optional` columns may be missing or null;
    their value is then empty. Raises SteleError for a missing column, a value of another type, and a file without
    rows.
    """
    for where, row in _parquet_rows(path, columns, optional) if is_parquet(path) else json_lines(path):
        yield where, {name: _value(row, name, kind, where, optional) for name, kind in columns.items()}


def _value(row: JsonObject, name: str, kind: type | None, where: str, optional: Collection[str]) -> Any:
    if name in optional and row.get(name) is None:
        return (kind or str)()
    return row[name] if kind is None and name in row else field(row, name, kind or str, where)


def _parquet_rows(
    path: Path, columns: Mapping[str, Any], optional: Collection[str]
) -> Iterator[tuple[str, JsonObject]]:
    import pyarrow.parquet

    with reading(path, "Parquet file"), pyarrow.parquet.ParquetFile(path) as table:
        names = table.schema_arrow.names
        if missing := [name for name in columns if name not in names and name not in optional]:
            raise SteleError(f"{path}: no column {missing[0]!r}; found {', '.join(names)}; want {', '.join(columns)}")
        if not table.metadata.num_rows:
            raise SteleError(f"{path}: a Parquet file without rows; get it again")
        number = 0
        for batch in table.iter_batches(BATCH, columns=[name for name in columns if name in names]):
            for row in batch.to_pylist():
                yield f"{path}, row {(number := number + 1)}", row
