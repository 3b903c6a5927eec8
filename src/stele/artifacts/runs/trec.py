"""TREC run files, `query Q0 passage rank score tag` a line, gzipped or not."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from stele.artifacts.runs.run import Run, make_run
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.paths import relative
from stele.files.reading import reading

COLUMNS = ("query", "q0", "passage", "rank", "score", "tag")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")  # what atof reads; Python's float takes more
_BOM = b"\xef\xbb\xbf"


def write_run(path: Path, run: Iterable[tuple[str, Sequence[tuple[str, float]]]], tag: str) -> None:
    """Writes a run, gzipped to the same bytes each time.

    Nine significant digits give a float32 back exactly.
    """
    with atomic_file(path, "wb") as handle, gzip.GzipFile("", "wb", 6, handle, mtime=0) as packed:
        for query, hits in run:
            rows = (f"{query} Q0 {name} {rank} {score:.9g} {tag}\n" for rank, (name, score) in enumerate(hits, 1))
            packed.write("".join(rows).encode("utf-8"))


def read_run(path: Path) -> Run:
    """Reads a run file (gzipped or not) into canonical order; the rank column says nothing.

    Columns are parted by blanks or tabs, lines end in \\n or \\r\\n, a byte order mark is passed over and so are blank
    lines. Raises SteleError with file and line for wrong columns, a score that is no finite number, a passage retrieved
    twice for one query, a cut gzip file, and for a run without any line.
    """
    run = _read_fast(path)
    return run if run is not None else _read_carefully(path)


def _read_fast(path: Path) -> Run | None:
    """The run of a file in the usual form, single blanks between columns; None where that is not all there is to it."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv

    text, number = pyarrow.string(), pyarrow.float64()
    wanted = {"query": pyarrow.dictionary(pyarrow.int32(), text), "passage": text, "score": number}
    try:
        with pyarrow.input_stream(path, compression="gzip" if _is_gzipped(path) else None) as stream:
            table = pyarrow.csv.read_csv(
                stream,
                pyarrow.csv.ReadOptions(column_names=COLUMNS, block_size=1 << 23),
                pyarrow.csv.ParseOptions(delimiter=" ", quote_char=False),
                pyarrow.csv.ConvertOptions(column_types=wanted, include_columns=list(wanted), null_values=[]),
            )
        if not table.num_rows:
            return None
        queries = table["query"].unify_dictionaries().combine_chunks()
        passages = table["passage"].combine_chunks().dictionary_encode()
        for names in (queries.dictionary, passages.dictionary):
            # an empty id, or white space within one: the columns are parted in another way
            if pyarrow.compute.any(pyarrow.compute.match_substring_regex(names, r"^$|[\t\r\v\f]")).as_py():
                return None
        return make_run(queries, passages, table["score"].to_numpy(), path)
    except (pyarrow.ArrowException, OSError, SteleError):
        return None  # the careful reader says what is wrong and where


def _read_carefully(path: Path) -> Run:
    scores: dict[tuple[bytes, bytes], float] = {}
    for number, line in _lines(path):
        columns, where = line.split(), f"{path}, line {number}"
        if len(columns) != len(COLUMNS):
            raise SteleError(f"{where}: want 6 columns (query Q0 passage rank score tag), found {len(columns)}")
        query, _, name, _, written, _ = columns
        if (query, name) in scores:
            raise SteleError(f"{where}: passage {name.decode()!r} is there twice for query {query.decode()!r}")
        if not _NUMBER.fullmatch(written):
            raise SteleError(f"{where}: the score must be a finite number, found {written.decode()!r}")
        scores[query, name] = float(written)
    names = [(query.decode(), name.decode()) for query, name in scores]
    return make_run([query for query, _ in names], [name for _, name in names], list(scores.values()), path)


def _is_gzipped(path: Path) -> bool:
    with reading(path, "TREC run"), open(path, "rb") as handle:
        return handle.read(2) == b"\x1f\x8b"


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(line number, line) of the lines that are not blank, all of them UTF-8."""
    number = 0
    with (
        reading(lambda: f"{path}, line {number}" if number else str(path), "TREC run"),
        (gzip.open if _is_gzipped(path) else open)(path, "rb") as handle,
    ):
        for number, line in enumerate(handle, start=1):
            if number == 1:
                line = line.removeprefix(_BOM)
            line.decode("utf-8")
            if line.strip():
                yield number, line


def runs_of(record: Mapping, folder: Path) -> dict[str, Path]:
    """Search name -> run file, from a retrieval record and the folder that it stands in."""
    return {name: folder / "runs" / relative(f"{name}.trec.gz", f"{folder}: searches") for name in record["searches"]}
