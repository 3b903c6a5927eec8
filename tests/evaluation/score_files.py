"""Scores per query as files and in memory, for tests."""

import csv
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from stele.evaluation.scores import Scores
from tests.sealed import write_sealed


def scores(source: str, seeds: list[list[float]], queries: str = "abcdefgh", language: str = "en", **facts) -> Scores:
    """Scores of "mrr@10" of some seeds; the queries a, b, ... of one search."""
    keys = [(language, query) for query in queries[: len(seeds[0])]]
    return Scores(source, keys, [language] * len(keys), {"mrr@10": np.array(seeds, dtype=float)}, **facts)


def write_csv(path: Path, rows: list[tuple], metrics=("mrr@10",)) -> Path:
    """A file of (search, language, query, values) rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([("search", "language", "query", *metrics), *rows])
    return path


def write_result(path: Path, values: list[float | None], seed: int = 0, **facts) -> Path:
    """A result with its scores per query, as the workflow lays them out."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True)
    language = pyarrow.array(["sw"] * len(values)).dictionary_encode()
    columns = {"search": language, "language": language, "query": [f"q{i}" for i in range(len(values))]}
    pyarrow.parquet.write_table(pyarrow.table({**columns, "mrr@10": values}), folder / "queries.parquet")
    record = {"benchmark": "mrtydi", "setting": "zero_shot_marco", "seeds": {"pretraining": 0, "finetuning": seed}}
    record |= {"averaged": "macro", "metrics": {"mrr@10": {}}, "labels": ["generated data"], **facts}
    return write_sealed(path, record)
