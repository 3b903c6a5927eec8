"""The metrics that ranx computes (lines of metrics/ranx.yaml), and rankings as ranx sees them.

ranx takes its own Run and Qrels, or plain arrays. Arrays are used: a Run sorts again (ties in no defined order),
hashes passage ids to floats, and has numba compile its sorting anew for each new length of an id. Here a ranking
arrives in canonical order, ids become small numbers, and all queries of all languages are scored in one call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from stele.artifacts.run import Run
from stele.benchmarks.types import QuerySet
from stele.catalogue import read_yaml
from stele.evaluation import guess
from stele.evaluation.metric import Case, Metric
from stele.files.strict import Strict, validate

TABLE = Path(__file__).parent / "metrics" / "ranx.yaml"
Name = Literal[
    "hits", "hit_rate", "precision", "recall", "f1", "r-precision", "mrr", "map", "ndcg", "ndcg_burges", "dcg"
]  # metrics of ranx that have a cut
DIRECTIONS = {
    "forward": lambda query_set: query_set.name == query_set.language,
    "backward": lambda query_set: query_set.name != query_set.language,
    "to_en": lambda query_set: query_set.name.endswith("-en"),
    "from_en": lambda query_set: query_set.name.startswith("en-"),
}
_ABSENT, _UNJUDGED = -1.0, -2.0  # numbers that are no passage


class Line(Strict):
    """A metric of ranx.yaml, which explains the keys."""

    ranx: Name
    cut: int | None = Field(None, ge=0)
    direction: Literal["forward", "backward", "to_en", "from_en"] | None = None

    def counts(self, query_set: QuerySet) -> bool:
        """Whether the queries of a query set count."""
        return self.direction is None or DIRECTIONS[self.direction](query_set)


@cache
def ranx_table() -> dict[str, Line]:
    """The lines of ranx.yaml by the metric's name. Raises SteleError for a line that is wrong."""
    return validate(dict[str, Line], read_yaml(TABLE), TABLE)


class RanxMetric(Metric):
    """A metric of ranx.yaml."""

    def __init__(self, name: str, cut: str) -> None:
        super().__init__(cut)
        self.line = ranx_table()[name]
        self.example = f"{name}@100" if self.line.cut is None else name

    def evaluate(self, case: Case) -> np.ndarray:
        values = by_ranx(case, self.line.ranx, self._depth())
        counted = [self.line.counts(query_set) for query_set in case.query_sets]
        return np.where(np.array(counted, dtype=bool), values, np.nan)

    def guess(self, case: Case) -> np.ndarray | None:
        expected = guess.EXPECTED.get(self.line.ranx)
        return guess.by_query(case, expected, self._depth()) if expected else None

    def _depth(self) -> int:
        return int(self.cut) if self.line.cut is None else self.line.cut


def by_ranx(case: Case, name: str, cut: int) -> np.ndarray:
    """float64 [rows]: the value of each query by the metric that ranx calls `name`, at a cut.

    Queries without a result or without a relevant passage score 0. The metric's function is called itself:
    `ranx.evaluate` cannot return the values per query of a single metric.
    """
    import numba
    from ranx.metrics import metric_switch

    judged, rankings = case.cached("arrays", lambda: _arrays_of(case))
    numba.set_num_threads(1)  # the work is milliseconds
    return np.asarray(metric_switch(name)(judged, rankings, cut, 1), dtype=np.float64)


def _arrays_of(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of all query sets one below the other, padded to common widths."""
    parts = []
    for name, rows in case.rows_of.items():
        place = slice(rows.start, rows.stop)
        parts.append(arrays(case.runs[name], case.queries[place], case.relevant[place]))
    judged = _stacked([part[0] for part in parts], (_ABSENT, 0.0))
    return judged, _stacked([part[1] for part in parts], (_UNJUDGED, 0.0))


def _stacked(parts: list[np.ndarray], padding: tuple[float, float]) -> np.ndarray:
    """float64 [q, r, 2] of all parts [q_i, r_i, 2], one below the other."""
    width = max(part.shape[1] for part in parts)
    whole = np.full((sum(map(len, parts)), width, 2), padding)
    start = 0
    for part in parts:
        whole[start : start + len(part), : part.shape[1]] = part
        start += len(part)
    return whole


def arrays(run: Run, queries: Sequence[str], relevant: Sequence[Mapping[str, int]]) -> tuple[np.ndarray, np.ndarray]:
    """(judgments [q, r, 2], rankings [q, k, 2]) of (passage number, relevance or score), float64, padded.

    Within a query its judged passages are numbered from 0, the most relevant first: ranx takes their order for the
    ideal one of nDCG. Scores fall strictly along the ranking. Padding of the
    judgments has relevance 0, which ranx leaves out; padding of a ranking is a passage that nobody judged.
    """
    relevant = [dict(sorted(right.items(), key=itemgetter(1), reverse=True)) for right in relevant]
    judged = np.full((len(queries), max(1, max(map(len, relevant), default=1)), 2), (_ABSENT, 0.0))
    for row, right in enumerate(relevant):
        judged[row, : len(right), 0] = range(len(right))
        judged[row, : len(right), 1] = list(right.values())
    places = np.array([run.place.get(query, -1) for query in queries], dtype=np.int64)
    # place -1, no result, takes the 0 at the end
    starts, lengths = (np.append(column, 0)[places] for column in (run.starts[:-1], np.diff(run.starts)))
    depth = max(1, int(lengths.max(initial=0)))
    rankings = np.full((len(queries), depth, 2), (_UNJUDGED, 0.0))
    rankings[:, :, 1] = np.arange(depth, 0, -1)
    rows = np.repeat(np.arange(len(queries)), lengths)
    ranks = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    codes = run.codes[np.repeat(starts, lengths) + ranks]
    rankings[rows, ranks, 0] = _numbers(run, relevant, rows, codes)
    return judged, rankings


def _numbers(run: Run, relevant: Sequence[Mapping[str, int]], rows: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """float64 [hits]: the number of each hit's passage among the judged ones of its query.

    A hit is its query's row and its passage's code.
    """
    import pyarrow
    import pyarrow.compute

    names = pyarrow.array([name for right in relevant for name in right], pyarrow.string())
    sizes = np.array([len(right) for right in relevant], dtype=np.int64)
    judged = pyarrow.compute.index_in(names, run.names).fill_null(-1).to_numpy().astype(np.int64)
    owners = np.repeat(np.arange(len(relevant)), sizes)
    numbers = np.arange(len(names)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    retrieved = judged >= 0
    keys = owners[retrieved] * len(run.names) + judged[retrieved]
    order = np.argsort(keys)
    keys, numbers = keys[order], numbers[retrieved][order].astype(np.float64)
    wanted = rows * len(run.names) + codes
    if not len(keys):
        return np.full(len(wanted), _UNJUDGED)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, numbers[place], _UNJUDGED)
