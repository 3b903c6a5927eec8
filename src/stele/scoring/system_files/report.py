"""A scored system as text for a person, as CSV, and as values per query."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stele.evaluation.aggregate import by_language
from stele.evaluation.case import Case
from stele.evaluation.evaluate import Evaluation
from stele.files.atomic import atomic_file
from stele.files.formats import csv_cell, write_csv

logger = logging.getLogger(__name__)


def print_report(case: Case, evaluation: Evaluation, average: str) -> None:
    """A line per language with its queries and metrics, the average, and what a reader must know beside them."""
    metrics, languages = evaluation.metrics, dict.fromkeys(query_set.language for query_set in case.query_sets)
    rows = [["language", "queries", *metrics]]
    for language in languages:
        counted = max((figures["n"].get(language, 0) for figures in metrics.values()), default=0)
        values = [number(figures["languages"].get(language)) for figures in metrics.values()]
        rows.append([language, str(counted), *values])
    rows.append([f"average ({average})", "", *(number(figures["average"]) for figures in metrics.values())])
    print("\n".join(aligned(rows, texts=1)))
    if missing := sum(case.missing.values()):
        logger.warning("%d of %d judged queries have no result; they count as 0", missing, len(case.queries))
        for name, value in _without_missing(case, evaluation, average).items():
            logger.warning("  without them %s would be %s", name, number(value))
    if case.extra:
        logger.warning("%d queries of the run are not judged; left out", case.extra)
    for name, count in evaluation.notes.items():
        logger.info("%s: %d", name.replace("_", " "), count)


def aligned(rows: Sequence[Sequence[str]], texts: int) -> list[str]:
    """Rows as lines: the first `texts` columns to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _without_missing(case: Case, evaluation: Evaluation, average: str) -> dict[str, float | None]:
    """The averages over the queries that the run has, as scripts give them that pass over missing ones in silence."""
    absent = np.zeros(len(case.queries), dtype=bool)
    for name, rows in case.rows_of.items():
        for row in rows:
            given = case.predictions[row] is not None if case.predictions else case.queries[row] in case.runs[name]
            absent[row] = not given
    languages = [query_set.language for query_set in case.query_sets]
    return {
        name: by_language(np.where(absent, np.nan, column), languages, average)["average"]
        for name, column in evaluation.values.items()
    }


def write_values(path: Path, evaluation: Evaluation) -> None:
    """metric, language ("average" for the benchmark's own), value, queries."""
    with atomic_file(path, newline="", encoding="utf-8") as handle:
        rows = [["metric", "language", "value", "queries"]]
        for name, figures in evaluation.metrics.items():
            rows += [
                [name, language, value, figures["n"][language]] for language, value in figures["languages"].items()
            ]
            if figures["average"] is not None:
                rows.append([name, "average", figures["average"], sum(figures["n"].values())])
        write_csv(handle, rows)


def write_queries(path: Path, case: Case, values: dict[str, np.ndarray]) -> None:
    """search, language, query and one column a metric; empty where a query does not count."""
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    columns = {
        "search": pyarrow.array([query_set.name for query_set in case.query_sets]).dictionary_encode(),
        "language": pyarrow.array([query_set.language for query_set in case.query_sets]).dictionary_encode(),
        "query": pyarrow.array(case.queries),
        **{name: pyarrow.array(column, from_pandas=True) for name, column in values.items()},
    }
    table = pyarrow.table(columns)
    with atomic_file(path, "wb") as handle:
        if path.suffix == ".csv":
            pyarrow.csv.write_csv(_plain(table), handle)
        else:
            pyarrow.parquet.write_table(table, handle)


def _plain(table):
    """The table with its texts as CSV has them: no dictionaries, nothing that a spreadsheet would run."""
    import pyarrow

    for place, name in enumerate(("search", "language", "query")):
        texts = [csv_cell(text) for text in table[name].to_pylist()]
        table = table.set_column(place, name, pyarrow.array(texts, pyarrow.string()))
    return table
