"""Rankings as ranx sees them, and its metrics on them.

ranx takes its own Run and Qrels, or plain arrays. Arrays are used: a Run sorts again (ties in no defined order),
hashes passage ids to floats, and has numba compile its sorting anew for each new length of an id. Here a ranking
arrives in canonical order, ids become small numbers, and all queries of all languages are scored in one call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

import numpy as np

from stele.artifacts.run import Run
from stele.evaluation.case import Case

_ABSENT, _UNJUDGED = -1.0, -2.0  # numbers that are no passage


def by_ranx(case: Case, name: str, cut: str) -> np.ndarray:
    """One value per query [rows] by ranx's "mrr", "recall", "map", "precision" or "ndcg" at a cut.

    Queries without a result or without a relevant passage score 0. The metric's function is called itself:
    `ranx.evaluate` cannot return the values per query of a single metric.
    """
    import numba
    from ranx.metrics import metric_switch

    judged, rankings = case.once("arrays", lambda: _arrays_of(case))
    numba.set_num_threads(1)  # the work is milliseconds
    return np.asarray(metric_switch(name)(judged, rankings, int(cut), 1), dtype=np.float64)


def _arrays_of(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of all query sets one below the other, padded to common widths."""
    parts = []
    for name, rows in case.rows_of.items():
        place = slice(rows.start, rows.stop)
        parts.append(arrays(case.runs[name], case.queries[place], case.relevant[place]))
    judged = _stacked([part[0] for part in parts], (_ABSENT, 0.0))
    return judged, _stacked([part[1] for part in parts], (_UNJUDGED, 0.0))


def _stacked(parts: list[np.ndarray], padding: tuple[float, float]) -> np.ndarray:
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
    """For each hit (its query's row, its passage's code) the passage's number among the judged ones of that query."""
    import pyarrow
    import pyarrow.compute

    names = pyarrow.array([name for right in relevant for name in right], pyarrow.string())
    sizes = np.array([len(right) for right in relevant], dtype=np.int64)
    judged = pyarrow.compute.index_in(names, run.names).fill_null(-1).to_numpy().astype(np.int64)
    owners = np.repeat(np.arange(len(relevant)), sizes)
    numbers = np.arange(len(names)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    kept = judged >= 0
    keys = owners[kept] * len(run.names) + judged[kept]
    order = np.argsort(keys)
    keys, numbers = keys[order], numbers[kept][order].astype(np.float64)
    wanted = rows * len(run.names) + codes
    if not len(keys):
        return np.full(len(wanted), _UNJUDGED)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, numbers[place], _UNJUDGED)
