"""The metrics that ranx computes (lines of metrics/ranx.yaml), and rankings in the form that ranx takes.

ranx takes its own Run and Qrels, or plain arrays. Stele passes arrays: a Run sorts again (ties in no defined order),
hashes passage ids to floats, and has numba compile its sorting anew for each new length of an id. Here a ranking
arrives in canonical order, ids become small numbers, and all queries of all languages are scored in one call.
"""

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from types import ModuleType
from typing import Literal, NamedTuple

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
    """One metric of ranx.yaml; the file itself explains the keys."""

    ranx: Name
    cut: int | None = Field(None, ge=0)
    direction: Literal["forward", "backward", "to_en", "from_en"] | None = None

    def counts(self, query_set: QuerySet) -> bool:
        """Whether the queries of a query set count."""
        return self.direction is None or DIRECTIONS[self.direction](query_set)


@cache
def ranx_table() -> dict[str, Line]:
    """Reads ranx.yaml: its lines by the metric's name. Raises SteleError for an invalid line."""
    return validate(dict[str, Line], read_yaml(TABLE), TABLE)


class RanxMetric(Metric):
    """A metric that ranx computes, defined by a line of ranx.yaml; its cut is in that line or in the metric's name."""

    def __init__(self, name: str, cut: str) -> None:
        super().__init__(cut)
        self.line = ranx_table()[name]
        self.example = f"{name}@100" if self.line.cut is None else name
        if self.line.ranx not in guess.EXPECTED:
            self.unguessed = "no formula of its expected value in guess.py"

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
    """Value of each query by the metric that ranx calls `name`, at a cut (0: all ranks); float64 [rows].

    Queries without a result or without a relevant passage score 0. The metric's function is called directly, because
    `ranx.evaluate` cannot return the values per query of a single metric.
    """
    import numba

    judged, hits = case.cached("arrays", lambda: arrays(case))
    function = metrics_of_ranx().metric_switch(name)
    numba.set_num_threads(1)  # the work takes milliseconds
    if cut:
        return np.asarray(function(judged, hits.rankings(cut), cut, 1), dtype=np.float64)
    rankings, values = hits.rankings(0), np.zeros(len(judged))
    for depth in np.unique(hits.depths):  # else ranx would take padding for retrieved passages
        rows = hits.depths == depth
        values[rows] = function(judged[rows], np.ascontiguousarray(rankings[rows, : max(1, depth)]), 0, 1)
    return values


@cache
def metrics_of_ranx() -> ModuleType:
    """`ranx.metrics`, imported without `ranx`, which imports scipy, matplotlib and ir_datasets in two seconds."""
    import numba

    numba.config.THREADING_LAYER = "workqueue"  # as `ranx` sets it
    if "ranx" in sys.modules:
        return importlib.import_module("ranx.metrics")
    (folder,) = importlib.util.find_spec("ranx").submodule_search_locations
    spec = importlib.util.spec_from_file_location("ranx.metrics", Path(folder, "metrics", "__init__.py"))
    sys.modules["ranx.metrics"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    del sys.modules["ranx.metrics"]  # so that a later `import ranx` finds it in the usual way
    return module


class JudgedHits(NamedTuple):
    """Retrieved passages of all queries that are judged: their `rows`, `ranks` (from 0) and `numbers`, int64 [hits].

    `rows` holds the row of a hit's query, `numbers` the number of the passage among the judged passages of its query.
    `depths`, int64 [queries], are the lengths of the queries' rankings.
    """

    rows: np.ndarray
    ranks: np.ndarray
    numbers: np.ndarray
    depths: np.ndarray

    def rankings(self, cut: int) -> np.ndarray:
        """Passage number and score at each of the first `cut` ranks (0: at all ranks), float64 [queries, k, 2].

        Scores fall strictly along a ranking; a passage without a judgment, and padding, has the number -2.
        """
        deepest = int(self.depths.max(initial=1))
        depth = min(cut or deepest, deepest)
        rankings = np.full((len(self.depths), depth, 2), (_UNJUDGED, 0.0))
        rankings[:, :, 1] = np.arange(depth, 0, -1)
        within = self.ranks < depth
        rankings[self.rows[within], self.ranks[within], 0] = self.numbers[within]
        return rankings


def arrays(case: Case) -> tuple[np.ndarray, JudgedHits]:
    """Judgments, float64 [queries, r, 2] of passage number and relevance, and the judged hits of a case.

    The judged passages of each query are numbered from 0, the most relevant first: ranx takes their order as the ideal
    ranking of nDCG. Padding of the judgments has relevance 0, which ranx leaves out.
    """
    relevant = [dict(sorted(right.items(), key=itemgetter(1), reverse=True)) for right in case.relevant]
    judged = np.full((len(relevant), max(1, max(map(len, relevant), default=1)), 2), (_ABSENT, 0.0))
    for row, right in enumerate(relevant):
        judged[row, : len(right), 0] = range(len(right))
        judged[row, : len(right), 1] = list(right.values())
    parts, depths = [], np.zeros(len(relevant), np.int64)
    for name, rows in case.rows_of.items():
        run, place = case.runs[name], slice(rows.start, rows.stop)
        parts.append(_judged_hits(run, case.queries[place], relevant[place], rows.start))
        lengths = np.diff(run.starts)
        depths[place] = [lengths[run.place[query]] if query in run else 0 for query in case.queries[place]]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return judged, JudgedHits(*columns, depths)


def _judged_hits(
    run: Run, queries: Sequence[str], relevant: Sequence[Mapping[str, int]], first_row: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows (from `first_row` on), ranks and numbers of the judged hits of one run's queries."""
    import pyarrow
    import pyarrow.compute

    # each judgment: the row of its query, its number there, the code of its passage among the distinct judged ones
    sizes = np.array([len(right) for right in relevant], dtype=np.int64)
    passages = pyarrow.array([name for right in relevant for name in right], pyarrow.string()).dictionary_encode()
    owners = np.repeat(np.arange(len(relevant)), sizes)
    numbers = np.arange(len(passages)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    keys = owners * len(passages) + passages.indices.to_numpy()
    # each hit on a passage that is judged for any query: row, rank and the same code
    judged_code = pyarrow.compute.index_in(run.names, passages.dictionary).fill_null(-1).to_numpy()
    hits = np.flatnonzero((judged_code >= 0)[run.codes])
    places = np.searchsorted(run.starts, hits, side="right") - 1
    row_of_place = np.full(len(run), -1)
    for row, query in enumerate(queries):
        if query in run:
            row_of_place[run.place[query]] = row
    rows = row_of_place[places]
    ranks = hits - run.starts[places]
    wanted = rows * len(passages) + judged_code[run.codes[hits]]
    # hits judged for their own query; an unjudged query has row -1, which no key contains
    judgments = pyarrow.compute.index_in(pyarrow.array(wanted), pyarrow.array(keys)).fill_null(-1).to_numpy()
    right = judgments >= 0
    return rows[right] + first_row, ranks[right], numbers[judgments[right]]
