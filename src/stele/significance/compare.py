"""Systems against a baseline, for a notebook: the comparisons of `stele scoring compare` as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stele.errors import SteleError
from stele.significance import comparison, fisher, paired, scores
from stele.significance.scores import Scores

if TYPE_CHECKING:
    import pandas

File = str | Path


def compare(
    systems: Mapping[str, pandas.DataFrame | File | Sequence[File]],
    test: str = "fisher",
    correction: str = "holm",
    level: float = 0.05,
) -> pandas.DataFrame:
    """The first system against each other one, by every metric that all have: a row a comparison.

    A system is values per query (as `stele.score` gives them: one row a query, one column a metric), a result of
    `stele scoring score` or `average` (.json), a file of scores per query (.parquet, .csv), or several files, one a
    seed. `test` is "fisher" or "t_test", `correction` "holm", "bonferroni" or "none". Columns: those of
    `stele.significance.comparison.Comparison`, with difference, p and corrected_p. Raises SteleError where the systems
    do not have the same queries, have no metric in common, or are fewer than two.

    >>> import pandas
    >>> queries = pandas.Index([f"q{n}" for n in range(8)], name="query")
    >>> bm25 = pandas.DataFrame({"mrr@10": [0, 0, 0.5, 0.2, 1, 0.25, 0, 0.1]}, queries)
    >>> dense = pandas.DataFrame({"mrr@10": [0.5, 1, 0.5, 1, 1, 1, 0.5, 0.25]}, queries)
    >>> found = compare({"bm25": bm25, "dense": dense})
    >>> found[["metric", "system", "baseline_mean", "mean", "p", "significant"]]
       metric system  baseline_mean     mean        p  significant
    0  mrr@10  dense        0.25625  0.71875  0.03125         True
    >>> round(float(compare({"bm25": bm25, "dense": dense}, test="t_test").p[0]), 4)
    0.0109
    """
    import pandas

    if len(systems) < 2:
        raise SteleError("compare: want two systems or more, the baseline first")
    given = {name: _scores(name, system) for name, system in systems.items()}
    baseline = next(iter(given.values()))
    metrics = [metric for metric in baseline.values if all(metric in entry.values for entry in given.values())]
    if not metrics:
        raise SteleError(f"compare: the systems have no metric in common with {baseline.source}")
    choices = {
        "test": partial(comparison.load_test(test).p_value, permutations=fisher.PERMUTATIONS, seed=0),
        "average": next((entry.average for entry in given.values() if entry.average), "macro"),
        "correction": correction,
        "level": level,
    }
    rows = [
        entry for metric in metrics for entry in comparison.compare_all(given, next(iter(given)), metric, **choices)
    ]
    return pandas.DataFrame(
        [asdict(entry) for entry in rows],
        columns=[field.name for field in fields(comparison.Comparison)],
    )


def _scores(name: str, system: pandas.DataFrame | File | Sequence[File]) -> Scores:
    import pandas

    if not isinstance(system, pandas.DataFrame):
        files = [system] if isinstance(system, File) else system
        return paired.stack([entry for file in files for entry in scores.read(file)])
    if not system.index.is_unique:
        raise SteleError(
            f"compare: system {name}: a query is there twice: {system.index[system.index.duplicated()][0]!r}"
        )
    values = {metric: np.asarray(column, dtype=np.float64)[None, :] for metric, column in system.items()}
    return Scores(name, [("run", str(query)) for query in system.index], ["all"] * len(system), values)
