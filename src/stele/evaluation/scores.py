"""Scores per query, in the files that `stele scoring score` writes.

Such a file (Parquet or CSV) has the columns search, language and query, and one per metric, empty where a query does
not count. A result stands for the file that it names: `queries.parquet` is in the folder of its name (`pt0-ft0.json`:
`pt0-ft0/`), any other beside it. An averaged result stands for the files of its seeds (`zero_shot.json`:
`zero_shot/pt0-ft0.json` and so on).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stele.artifacts import records
from stele.artifacts.record_shape import check_seal, rebuild
from stele.errors import Damaged, SteleError
from stele.files.digests import sha256
from stele.files.formats import csv_text
from stele.files.paths import relative
from stele.files.reading import read_note, reading

if TYPE_CHECKING:
    import pyarrow

QUERIES = "queries.parquet"
KEYS = ("search", "language", "query")
WANTED = "columns search, language, query, and one per metric"


@dataclass(frozen=True)
class Scores:
    """The values of one system: entry i of `keys` (search, query) and of `languages`, and column i of `values[metric]`
    (float64 [seeds, n], NaN where the query does not count), belong to one query.

    benchmark, average ("macro" or "micro") and labels are those of the result, if the file belongs to one.
    """

    source: str
    keys: list[tuple[str, str]]
    languages: list[str]
    values: dict[str, np.ndarray]
    benchmark: str | None = None
    average: str | None = None
    labels: frozenset[str] = frozenset()

    def only(self, languages: Collection[str], metric: str) -> Scores:
        """Selects one metric and the queries of some languages. Raises SteleError if there are no such values."""
        if metric not in self.values:
            raise SteleError(f"{self.source}: found no values per query of {metric}; score by it first")
        places = [place for place, language in enumerate(self.languages) if language in languages]
        return replace(
            self,
            keys=[self.keys[place] for place in places],
            languages=[self.languages[place] for place in places],
            values={metric: self.values[metric][:, places]},
        )


def read(path: Path | str) -> list[Scores]:
    """Reads the scores of a result or of a file of values per query: one entry, or one per seed of an averaged result.

    Raises SteleError for a missing or damaged file, and for a result whose values per query are not beside it.
    """
    path = Path(path)
    if not path.is_file():
        raise SteleError(f"{path}: no such file")
    if path.suffix == ".json":
        with reading(path, "result", "score again"):
            return _of_result(path)
    result_path, is_named = Path(f"{path.resolve().parent}.json"), path.name == QUERIES
    if not is_named:
        result_path = path.with_suffix(".json")
        is_named = read_note(result_path, queries=dict).get("queries", {}).get("file") == path.name
    if is_named and result_path.is_file() and _is_result(record := records.read_unsealed(result_path)):
        check_seal(record, result_path)
        return [_with_facts(read_queries(path), record)]
    return [read_queries(path)]


def _is_result(record: dict) -> bool:
    return isinstance(record.get("metrics"), dict)


def _of_result(path: Path) -> list[Scores]:
    record = records.read_unsealed(path)
    if not _is_result(record):
        raise SteleError(f"{path}: not a result of `scoring score` or `scoring average`: it has no metrics")
    check_seal(record, path)
    if isinstance(record.get("seeds"), list):
        # the file may be a copy under a short name of the setting
        folder = path.parent / relative(record.get("setting"), f"{path}: setting")
        names = [f"pt{seeds['pretraining']}-ft{seeds['finetuning']}.json" for seeds in record["seeds"]]
        return [entry for name in names for entry in _of_result(_existing_file(folder / name, path))]
    known = record.get("queries")
    queries = _existing_file(_queries_of(path, known), path)
    if known and sha256(queries) != known["sha256"]:
        raise Damaged(f"{queries}: these values per query do not belong to {path.name}; {rebuild([path])}")
    return [_with_facts(read_queries(queries), record)]


def _queries_of(path: Path, known: dict | None) -> Path:
    """The file of a result's values per query: the one beside it that it names, unless that is `queries.parquet`.

    That one is in the folder of its name; an earlier scoring may have left another file there.
    """
    usual = path.with_suffix("") / QUERIES
    named = path.parent / relative(known["file"], f"{path}: queries") if known else usual
    is_usual = named.name == QUERIES and usual.is_file()
    return named if named.is_file() and not is_usual else usual


def _existing_file(wanted: Path, result: Path) -> Path:
    if not wanted.is_file():
        advice = "give that file, or score again with --queries"
        raise SteleError(f"{result}: found no file {wanted} with its scores per query; {advice}")
    return wanted


def _with_facts(scores: Scores, record: dict) -> Scores:
    labels = frozenset(record.get("labels", ()))
    return replace(scores, benchmark=record.get("benchmark"), average=record.get("averaged"), labels=labels)


def read_queries(path: Path) -> Scores:
    """Reads one file of values per query, Parquet or CSV.

    Raises SteleError for a file of another kind, a damaged or empty one, missing columns, a value that is no finite
    number, and a query that appears twice.
    """
    with reading(path, "file of scores per query"):
        table = table_of(path)
        names = table.column_names
        if len(set(names)) < len(names):
            raise SteleError(f"{path}: a column appears twice (found {', '.join(names)})")
        metrics = [name for name in names if name not in KEYS]
        if len(metrics) + len(KEYS) != len(names) or not metrics:
            raise SteleError(f"{path}: want {WANTED}; found {', '.join(names)}")
        if not table.num_rows:
            raise SteleError(f"{path}: found no query; want at least one row")
        searches, languages, queries = (_names(path, table, name) for name in KEYS)
        keys = list(zip(searches, queries, strict=True))
        (search, query), times = Counter(keys).most_common(1)[0]
        if times > 1:
            message = f"query {query!r} of search {search!r} appears {times} times; want each query once"
            raise SteleError(f"{path}: {message}")
        values = {name: _numbers(path, table, name)[None, :] for name in metrics}
        return Scores(str(path), keys, languages, values)


def table_of(path: Path) -> pyarrow.Table:
    """Reads a table from Parquet or CSV, with keys unquoted. Raises SteleError for other suffixes, not for damage."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    names = dict.fromkeys(KEYS, pyarrow.string())  # ids are strings: 007 is not 7
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)
    if path.suffix == ".csv":
        table = pyarrow.csv.read_csv(path, convert_options=pyarrow.csv.ConvertOptions(column_types=names))
        for place, name in enumerate(table.column_names):
            if name in KEYS:
                texts = [text and csv_text(text) for text in table[name].to_pylist()]
                table = table.set_column(place, name, pyarrow.array(texts, pyarrow.string()))
        return table
    raise SteleError(f"{path}: want a result (.json) or scores per query (.parquet or .csv)")


def _names(path: Path, table: pyarrow.Table, column: str) -> list[str]:
    names = table[column].to_pylist()
    if wrong := [row for row, value in enumerate(names, start=1) if not isinstance(value, str) or not value]:
        raise SteleError(f"{path}: row {wrong[0]}: {column} must be a text, found {names[wrong[0] - 1]!r}")
    return names


def _numbers(path: Path, table: pyarrow.Table, column: str) -> np.ndarray:
    """Values of a column, float64 [n], NaN for null. Raises SteleError for a value that is no finite number."""
    import pyarrow

    try:
        numbers = table[column].cast(pyarrow.float64()).to_numpy().astype(np.float64)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError) as error:
        raise SteleError(f"{path}: column {column!r} must hold numbers ({str(error).splitlines()[0]})") from None
    if np.isinf(numbers).any():
        raise SteleError(f"{path}: row {np.flatnonzero(np.isinf(numbers))[0] + 1}: {column} is infinite")
    return numbers
