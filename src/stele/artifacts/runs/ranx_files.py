"""Runs as ranx saves them: JSON {query: {passage: score}}, or Parquet with columns q_id, doc_id, score."""

from __future__ import annotations

import math
from pathlib import Path

from stele.artifacts.runs.run import Run, make_run
from stele.errors import SteleError
from stele.files.reading import JsonObject, reading

COLUMNS = ("q_id", "doc_id", "score")


def from_json(value: JsonObject, path: Path) -> Run:
    """The run of a parsed JSON file; some queries may be without a hit."""
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
    """A JSON number; what no float holds is infinite, which no run may have."""
    try:
        return float(score)
    except OverflowError:
        return math.inf


def from_parquet(path: Path) -> Run:
    """The run of a Parquet file; ids that are integers become their decimal digits, as a TREC run would have them."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    with reading(path, "Parquet file"):
        table = pyarrow.parquet.read_table(path)
    if missing := [name for name in COLUMNS if name not in table.column_names]:
        present = ", ".join(table.column_names)
        raise SteleError(f"{path}: no column {missing[0]!r}; want {', '.join(COLUMNS)}, found {present}")
    columns = [table[name].combine_chunks() for name in COLUMNS]
    for name, column in zip(COLUMNS, columns, strict=True):
        if column.null_count:
            raise SteleError(f"{path}: column {name!r} has {column.null_count} empty cells")
    ids = []
    for name, column in zip(COLUMNS[:2], columns, strict=False):
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
