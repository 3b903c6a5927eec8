"""Runs: for each query its retrieved passages with scores, in canonical order, as TREC run files.

Canonical order is that of trec_eval: float32 score descending, then passage id descending (as bytes); the rank column
says nothing. A run in this order is scored alike by trec_eval and by every tool that respects the order.
"""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from stele.errors import SteleError
from stele.outputs import atomic_file

Hits = list[tuple[str, float]]  # (passage id, score) of one query, best first
Run = dict[str, Hits]


def canonical(hits: Iterable[tuple[str, float]]) -> Hits:
    """Hits in canonical order, scores rounded to float32.

    >>> canonical([("a", 1.0), ("c", 1.0), ("b", 2.0)])
    [('b', 2.0), ('c', 1.0), ('a', 1.0)]
    """
    rounded = [(name, float(np.float32(score))) for name, score in hits]
    by_id = sorted(rounded, key=lambda hit: hit[0].encode("utf-8"), reverse=True)
    return sorted(by_id, key=lambda hit: -hit[1])


def write_run(path: Path, run: Iterable[tuple[str, Sequence[tuple[str, float]]]], tag: str) -> None:
    """Writes `qid Q0 docid rank score tag` lines, gzipped to the same bytes each time.

    Nine significant digits give a float32 back exactly.
    """
    with atomic_file(path, "wb") as handle, gzip.GzipFile("", "wb", 6, handle, mtime=0) as packed:
        for query, hits in run:
            rows = (f"{query} Q0 {name} {rank} {score:.9g} {tag}\n" for rank, (name, score) in enumerate(hits, 1))
            packed.write("".join(rows).encode("utf-8"))


def read_run(path: Path) -> Run:
    """Reads a TREC run file (gzipped or not) into canonical order.

    Raises SteleError with file and line for wrong columns, a score that is no finite number, a passage retrieved twice
    for one query, a cut gzip file, and for a run without any line.
    """
    found: dict[str, dict[str, float]] = {}
    for number, line in _lines(path):
        columns = line.split()
        if len(columns) != 6:
            raise SteleError(
                f"{path}, line {number}: want 6 columns (query Q0 passage rank score tag), found {len(columns)}"
            )
        query, _, name, _, written, _ = columns
        hits = found.setdefault(query, {})
        if name in hits:
            raise SteleError(f"{path}, line {number}: passage {name!r} is there twice for query {query!r}")
        hits[name] = _score(written, f"{path}, line {number}")
    if not found:
        raise SteleError(f"{path}: the run is empty")
    return {query: canonical(hits.items()) for query, hits in found.items()}


def _score(written: str, where: str) -> float:
    try:
        score = float(written)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise SteleError(f"{where}: the score must be a finite number, found {written!r}")
    return score


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with open(path, "rb") as handle:
            gzipped = handle.read(2) == b"\x1f\x8b"
        with (gzip.open if gzipped else open)(path, "rt", encoding="utf-8-sig", newline="\n") as handle:
            for number, line in enumerate(handle, start=1):
                if line.strip():
                    yield number, line
    except FileNotFoundError:
        raise SteleError(f"{path}: no such run file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise SteleError(f"{path}: the gzip file is cut short or damaged after line {number} ({error})") from None
    except UnicodeDecodeError as error:
        raise SteleError(f"{path}: after line {number}: not UTF-8 ({error})") from None


def runs_of(record: Mapping, folder: Path) -> dict[str, Path]:
    """Search name -> run file, from a retrieval record and the folder that it stands in."""
    return {name: folder / "runs" / f"{name}.trec.gz" for name in record["searches"]}
