"""Runs in canonical order, which is trec_eval's: float32 score descending, then passage id descending (as bytes).

trec_eval and every tool that respects the order of a run give it the same scores. Ranks stated in a file are ignored,
as trec_eval ignores them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from stele.errors import SteleError

if TYPE_CHECKING:
    import pyarrow

Hits = list[tuple[str, float]]  # (passage id, score) of one query, best first


@dataclass(frozen=True, eq=False)
class Run:
    """Rankings stored as columns: the hits of query i are entries `starts[i]:starts[i + 1]` of `codes` and `scores`.

    `names` are the distinct passage ids, `codes` [hits] (int32 or int64) index them, and `scores` [hits] are float32,
    descending within a query. `make_run` builds a run and puts its hits into canonical order.
    """

    queries: list[str]
    starts: np.ndarray
    names: pyarrow.StringArray
    codes: np.ndarray
    scores: np.ndarray

    @cached_property
    def place(self) -> dict[str, int]:
        """Query id -> its number in `queries`."""
        return {query: number for number, query in enumerate(self.queries)}

    def __len__(self) -> int:
        return len(self.queries)

    def __contains__(self, query: str) -> bool:
        return query in self.place

    def ranking(self, query: str) -> list[str]:
        """Passage ids of one query, best first; [] for a query without a result."""
        return [name for name, _ in self.hits(query)]

    def hits(self, query: str) -> Hits:
        """Hits (passage id, score) of one query, best first; [] for a query without a result."""
        if query not in self.place:
            return []
        number = self.place[query]
        rows = slice(self.starts[number], self.starts[number + 1])
        return list(zip(self.names.take(self.codes[rows]).to_pylist(), self.scores[rows].tolist(), strict=True))

    def items(self) -> Iterator[tuple[str, Hits]]:
        return ((query, self.hits(query)) for query in self.queries)


def canonical(hits: Iterable[tuple[str, float]]) -> Hits:
    """Sorts the hits of one query into canonical order, with scores rounded to float32.

    >>> canonical([("a", 1.0), ("c", 1.0), ("b", 2.0)])
    [('b', 2.0), ('c', 1.0), ('a', 1.0)]
    """
    rounded = [(name, float(np.float32(score))) for name, score in hits]
    by_id = sorted(rounded, key=lambda hit: hit[0].encode("utf-8"), reverse=True)
    return sorted(by_id, key=lambda hit: -hit[1])


def make_run(
    queries: Sequence[str] | pyarrow.Array,
    passages: Sequence[str] | pyarrow.Array,
    scores: Sequence[float] | np.ndarray,
    where: object,
    searched: Iterable[str] = (),
) -> Run:
    """Builds a run from three columns of equal length with one entry per hit, in any order.

    Queries are in the order of their first hits; queries of `searched` without a hit follow. Raises SteleError, which
    begins with `where`, for a run without a query, a score that is not finite, and a passage given twice for a query.
    """
    owners, with_hits = _encode(queries)
    query_names = list(dict.fromkeys([*with_hits.to_pylist(), *searched]))
    codes, names = _encode(passages)
    try:
        scores = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SteleError(f"{where}: a score must be a number: {error}") from None
    if not query_names:
        raise SteleError(f"{where}: the run is empty; search again")
    if not np.isfinite(scores).all():
        query = query_names[int(owners[np.flatnonzero(~np.isfinite(scores))[0]])]
        raise SteleError(f"{where}: query {query!r}: the score must be a finite number")
    with np.errstate(over="ignore"):  # beyond float32 is infinite and still ranks first, as in trec_eval
        scores = scores.astype(np.float32)
    keys = owners * np.int64(len(names)) + codes
    keys.sort()
    again = np.flatnonzero(keys[1:] == keys[:-1])
    if again.size:
        query, name = divmod(int(keys[again[0]]), len(names))
        raise SteleError(f"{where}: passage {names[name].as_py()!r} appears twice for query {query_names[query]!r}")
    del keys
    same_query = owners[1:] == owners[:-1]
    # most files are in order already, and sorting them takes as long as reading them
    if not ((owners[1:] > owners[:-1]) | (same_query & (scores[1:] <= scores[:-1]))).all():
        order = np.lexsort((-scores, owners))
        owners, codes, scores = owners[order], codes[order], scores[order]
        same_query = owners[1:] == owners[:-1]
    codes, scores = _break_ties(codes, scores, same_query & (scores[1:] == scores[:-1]), names)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(query_names)))))
    return Run(query_names, starts, names, codes, scores)


def run_of(rankings: Mapping[str, Iterable[tuple[str, float]]], where: str = "run") -> Run:
    """Builds a run from query id -> (passage id, score) pairs in any order; keeps queries without a hit.

    >>> run_of({"q": [("a", 1.0), ("c", 1.0), ("b", 2.0)]}).ranking("q")
    ['b', 'c', 'a']
    """
    rows = [(query, name, score) for query, hits in rankings.items() for name, score in hits]
    if not rankings:
        import pyarrow

        nothing = np.zeros(0, dtype=np.int64)
        return Run([], np.zeros(1, np.int64), pyarrow.array([], pyarrow.string()), nothing, nothing.astype(np.float32))
    return make_run([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], where, rankings)


def without(run: Run, left_out: Mapping[str, Collection[str]]) -> Run:
    """Removes some passages of some queries from a run; a query that loses all its hits stays, without one.

    >>> run = run_of({"q": [("a", 2.0), ("b", 1.0)], "a": [("a", 3.0)]})
    >>> dict(without(run, {"q": ["a"], "a": ["a"]}).items())
    {'q': [('b', 1.0)], 'a': []}
    """
    wanted = {name for query in run.queries for name in left_out.get(query, ())}
    if not wanted:
        return run
    numbers = {name: code for code, name in enumerate(run.names.to_pylist()) if name in wanted}
    stay = np.ones(len(run.codes), dtype=bool)
    for number, query in enumerate(run.queries):
        if codes := [numbers[name] for name in left_out.get(query, ()) if name in numbers]:
            rows = slice(run.starts[number], run.starts[number + 1])
            stay[rows] = ~np.isin(run.codes[rows], codes)
    places = np.concatenate(([0], np.cumsum(stay)))
    return Run(run.queries, places[run.starts], run.names, run.codes[stay], run.scores[stay])


def merged(runs: Sequence[Run], keep: Collection[str], where: str) -> Run:
    """Merges runs with disjoint queries (the folds of a cross-validation) into one run of the queries in `keep`.

    Raises SteleError for a query of `keep` that is in two of the runs. A single run is returned with all its queries.
    """
    seen: dict[str, int] = {}
    for number, run in enumerate(runs):
        for query in run.queries:
            if query in keep and seen.setdefault(query, number) != number:
                raise SteleError(f"{where}: query {query!r} is in two of the runs; want it in one")
    if len(runs) == 1:
        return runs[0]
    return run_of({query: runs[number].hits(query) for query, number in seen.items()}, where)


def _encode(column: Sequence[str] | pyarrow.Array) -> tuple[np.ndarray, pyarrow.StringArray]:
    """Encodes strings as (codes [n] int32 or int64, distinct strings in the order of first appearance)."""
    import pyarrow

    if not isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
        column = pyarrow.array(column, pyarrow.string())
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    if not pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return column.indices.to_numpy(), column.dictionary


def _break_ties(
    codes: np.ndarray, scores: np.ndarray, ties: np.ndarray, names: pyarrow.StringArray
) -> tuple[np.ndarray, np.ndarray]:
    """Sorts tied hits of `codes` and `scores` [n] by id, descending; `ties` [n - 1]: hit i ties with hit i + 1."""
    if not ties.any():
        return codes, scores
    tied = np.flatnonzero(np.append(ties, False) | np.insert(ties, 0, False))
    group = np.cumsum(np.insert(~ties, 0, True))[tied]
    ids = [name.encode("utf-8") for name in names.take(codes[tied]).to_pylist()]
    falling = sorted(range(len(tied)), key=lambda i: ids[i], reverse=True)  # groups are put together again below
    falling = tied[sorted(falling, key=lambda i: group[i])]
    codes, scores = codes.copy(), scores.copy()
    codes[tied], scores[tied] = codes[falling], scores[falling]
    return codes, scores
