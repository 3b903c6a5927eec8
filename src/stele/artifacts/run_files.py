"""Run files: TREC's (lines of `query Q0 passage rank score tag`, compressed or not), and the two that ranx saves.

ranx saves JSON, {query: {passage: score}}, or Parquet with the columns q_id, doc_id, score.
"""

from __future__ import annotations

import gzip
import math
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stele.artifacts.run import Run, make_run, run_of
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_file
from stele.files.digests import facts_digest, file_facts
from stele.files.paths import relative
from stele.files.reading import JsonObject, open_bytes, open_unpacked, reading

if TYPE_CHECKING:
    import pyarrow

COLUMNS = ("query", "q0", "passage", "rank", "score", "tag")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")  # as C's atof; Python's float accepts more
_BOM = b"\xef\xbb\xbf"


def write_run(path: Path, run: Iterable[tuple[str, Sequence[tuple[str, float]]]], tag: str) -> None:
    """Writes a gzipped TREC run, always as the same bytes; nine significant digits restore each float32 exactly."""
    with atomic_file(path, "wb") as handle, gzip.GzipFile("", "wb", 6, handle, mtime=0) as packed:
        for query, hits in run:
            rows = (f"{query} Q0 {name} {rank} {score:.9g} {tag}\n" for rank, (name, score) in enumerate(hits, 1))
            packed.write("".join(rows).encode("utf-8"))


def checked_id(name: str, where: str) -> str:
    """Returns an id that a run can hold. Raises SteleError, beginning with `where`, for an empty one or white space."""
    if name.encode().split() != [name.encode()]:
        raise SteleError(f"{where}: id {name!r}: want one without white space, which separates the columns of a run")
    return name


def read_run(path: Path) -> Run:
    """Reads a TREC run file (compressed or not) into canonical order; ignores the rank column.

    Columns are separated by blanks or tabs, lines end in \\n or \\r\\n; a byte order mark and blank lines are skipped.
    Raises SteleError, mostly with file and line, for wrong columns, a score that is not a finite number, a passage
    retrieved twice for one query, a truncated compressed file, and a run without any line.
    """
    with suppress(SteleError), reading(path):  # the line-by-line reader below reports errors
        if columns := _columns(path):
            return make_run(*columns, path)
    return _read_carefully(path)


def read_own_run(path: Path) -> Run:
    """Reads a run that `write_run` wrote, which has no line if the search found nothing, as `read_run` reads others."""
    with open_unpacked(path) as lines:
        found_nothing = path.stat().st_size > 0 and not lines.read(1)
    return run_of({}) if found_nothing else read_run(path)


def _columns(path: Path) -> tuple[pyarrow.DictionaryArray, pyarrow.DictionaryArray, np.ndarray] | None:
    """Reads query ids, passage ids and scores (float64) of all hits; None if columns are not parted by one blank.

    The columns between them are read too: an empty one shows that a line has another column too few.
    """
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv

    text, number = pyarrow.string(), pyarrow.float64()
    ids = pyarrow.dictionary(pyarrow.int32(), text)
    wanted = {"query": ids, "q0": ids, "passage": text, "rank": pyarrow.int32(), "score": number}
    with open_bytes(path) as stream:
        table = pyarrow.csv.read_csv(
            stream,
            pyarrow.csv.ReadOptions(column_names=COLUMNS, block_size=1 << 23),
            pyarrow.csv.ParseOptions(delimiter=" ", quote_char=False),
            pyarrow.csv.ConvertOptions(column_types=wanted, include_columns=list(wanted), null_values=[]),
            pyarrow.system_memory_pool(),  # takes a quarter of the system time of pyarrow's own pool
        )
    if not table.num_rows:
        return None
    q0 = table["q0"].unify_dictionaries().chunk(0).dictionary
    table = table.select(["query", "passage", "score"])  # frees the others' memory
    queries = table["query"].unify_dictionaries().combine_chunks()
    passages = table["passage"].dictionary_encode().combine_chunks()
    for names in (queries.dictionary, passages.dictionary, q0):
        # an empty id, or white space within one: the columns have another separator
        if pyarrow.compute.any(pyarrow.compute.match_substring_regex(names, r"^$|[\t\r\v\f]")).as_py():
            return None
    return queries, passages, table["score"].to_numpy()


def _read_carefully(path: Path) -> Run:
    scores: dict[tuple[bytes, bytes], float] = {}
    for number, line in _lines(path):
        columns, where = line.split(), f"{path}, line {number}"
        if len(columns) != len(COLUMNS):
            raise SteleError(f"{where}: want 6 columns (query Q0 passage rank score tag), found {len(columns)}")
        query, _, name, _, written, _ = columns
        if (query, name) in scores:
            raise SteleError(f"{where}: passage {name.decode()!r} appears twice for query {query.decode()!r}")
        if not _NUMBER.fullmatch(written):
            raise SteleError(f"{where}: the score must be a finite number, found {written.decode()!r}")
        scores[query, name] = float(written)
    names = [(query.decode(), name.decode()) for query, name in scores]
    return make_run([query for query, _ in names], [name for _, name in names], list(scores.values()), path)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields (line number, line) of all lines that are not blank. Raises SteleError for one that is not UTF-8."""
    number = 0
    with (
        reading(lambda: f"{path}, line {number}" if number else str(path), "TREC run"),
        open_bytes(path) as handle,
    ):
        for number, line in enumerate(handle, start=1):
            if number == 1:
                line = line.removeprefix(_BOM)
            line.decode("utf-8")
            if line.strip():
                yield number, line


def runs_of(record: Mapping, folder: Path) -> dict[str, Path]:
    """Search name -> run file, for a retrieval record and the folder that contains it."""
    return {name: folder / "runs" / relative(f"{name}.trec.gz", f"{folder}: searches") for name in record["searches"]}


def copy_runs(files: Mapping[str, Path], folder: Path, job: str) -> dict[str, Any]:
    """Copies run files (search name -> file) into `folder`; returns the `outputs` and `content` of their record."""
    with atomic_directory(folder, job) as new_folder:
        for name, file in files.items():
            shutil.copyfile(file, new_folder / f"{name}.trec.gz")
    facts = {name: file_facts(folder / f"{name}.trec.gz") for name in files}
    outputs = {f"{folder.name}/{name}.trec.gz": facts_of_run for name, facts_of_run in facts.items()}
    return {"outputs": outputs, "content": facts_digest(facts)}


def collection_size(records: Iterable[Mapping], name: str) -> int | None:
    """Number of passages that the search `name` covered, by some records; None if they lack it or differ.

    A re-ranking has no such number: its `documents` are the judged documents of all `topics` together.
    """
    searches = [record.get("searches", {}).get(name, {}) for record in records]
    counts = {None if "topics" in facts else facts.get("passages", facts.get("documents")) for facts in searches}
    (count,) = counts if len(counts) == 1 else (None,)
    return count if isinstance(count, int) else None


RANX_COLUMNS = ("q_id", "doc_id", "score")


def from_json(value: JsonObject, path: Path) -> Run:
    """Builds the run of a parsed JSON file; queries may have no hits. Raises SteleError for a score of another type."""
    queries, passages, scores = [], [], []
    for query, hits in value.items():
        if not isinstance(hits, dict):
            raise SteleError(f"{path}: query {query!r}: want {{passage: score}}, found {type(hits).__name__}")
        for name, score in hits.items():
            if isinstance(score, bool) or not isinstance(score, (int, float)):
                raise SteleError(f"{path}: query {query!r}, passage {name!r}: the score must be a number: {score!r}")
            queries.append(query)
            passages.append(name)
            scores.append(_float(score))
    return make_run(queries, passages, scores, path, value if scores else ())


def _float(score: int | float) -> float:
    """Converts a JSON number to float; one too large for a float becomes infinite, which `make_run` then refuses."""
    try:
        return float(score)
    except OverflowError:
        return math.inf


def from_parquet(path: Path) -> Run:
    """Reads the run of a Parquet file; integer ids become decimal digits. Raises SteleError for wrong columns."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    with reading(path, "Parquet file"):
        table = pyarrow.parquet.read_table(path)
    if missing := [name for name in RANX_COLUMNS if name not in table.column_names]:
        present = ", ".join(table.column_names)
        raise SteleError(f"{path}: no column {missing[0]!r}; want {', '.join(RANX_COLUMNS)}, found {present}")
    columns = [table[name].combine_chunks() for name in RANX_COLUMNS]
    for name, column in zip(RANX_COLUMNS, columns, strict=True):
        if column.null_count:
            raise SteleError(f"{path}: column {name!r} has {column.null_count} empty cells; fill them")
    ids = []
    for name, column in zip(RANX_COLUMNS[:2], columns, strict=False):
        if not (pyarrow.types.is_integer(column.type) or _is_text(column.type)):
            raise SteleError(f"{path}: column {name!r} must hold strings or integers, found {column.type}")
        ids.append(pyarrow.compute.cast(column, pyarrow.string()))
    if not (pyarrow.types.is_floating(columns[2].type) or pyarrow.types.is_integer(columns[2].type)):
        raise SteleError(f"{path}: column 'score' must hold numbers, found {columns[2].type}")
    return make_run(*ids, columns[2].to_numpy(zero_copy_only=False), path)


def _is_text(kind) -> bool:
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or pyarrow.types.is_string_view(kind)
