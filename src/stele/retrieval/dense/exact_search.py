"""Exact search by inner product, block by block, with memory bounded by the block.

The k best passages of a query are those with the highest score, a score being the inner product summed in float64 and
rounded to float32; among equal scores the highest id comes first (the canonical order of runs, which is trec_eval's).
faiss finds candidates, by the search of its flat index and a few more than k of them, with a margin for the rounding of
float32; on a GPU torch finds them, by a product in float32. Only candidates are scored exactly, so the result does not
depend on the block size, the order of the blocks, the number of threads or the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

BLOCK_ROWS = 32_768  # passages that faiss searches at a time
EXTRA = 32  # candidates beyond k
QUERY_ROWS = 1_024  # queries scored against a whole block together: 1,024 x 32,768 scores are 128 MB
PAIR_ROWS = 256  # pairs scored exactly at a time: what fits a cache
MAX_PAIRS = 1 << 21  # candidates held at a time
BLAS_MIN_SIZE = 1  # numbers in the queries from which faiss multiplies matrices; its own 128,000 slows few queries


class BestHits(NamedTuple):
    """The best passages of n queries: how many each has [n] int64, and query by query scores float32 and ids."""

    counts: np.ndarray
    scores: np.ndarray
    ids: np.ndarray


class TopK:
    """The k best passages of each query so far.

    queries: float32 [n, d]. `add` takes blocks of passages in any order and of any size, and looks for candidates on
    `device`.
    """

    def __init__(self, queries: np.ndarray, k: int, device: str = "cpu", block_rows: int = BLOCK_ROWS) -> None:
        self.k, self.block_rows = k, block_rows
        self.queries = np.ascontiguousarray(queries, dtype=np.float32)
        self.doubles = self.queries.astype(np.float64)
        self.norms = _norms(self.queries)
        self.device = str(device)
        if self.device != "cpu":
            import torch

            self.queries_there = torch.from_numpy(self.queries).to(self.device)
        self.scores = [np.empty(0, np.float32)] * len(queries)  # per query, descending
        self.ids = [np.empty(0, "S1")] * len(queries)
        # the k-th best score of a query once it has k passages: what a newcomer must reach
        self.floor = np.full(len(queries), -np.inf, np.float32)

    def add(self, vectors: np.ndarray, ids: np.ndarray) -> None:
        """Searches a block: vectors [m, d] (float32 or float16), ids [m] (bytes)."""
        for start in range(0, len(vectors), self.block_rows):
            block = np.ascontiguousarray(vectors[start : start + self.block_rows], dtype=np.float32)
            names = ids[start : start + len(block)]
            for query, passage in self._candidates(block):
                self._merge(query, self._exact(query, block, passage), names[passage])

    def _candidates(self, block: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(queries, passages) of the pairs that may belong to the k best, those of a query together."""
        scores, places = self._nearest(block, min(self.k + EXTRA, len(block)))
        floor = self.floor
        if scores.shape[1] >= self.k:  # the k-th best of this block is a floor as good as any
            floor = np.maximum(floor, scores[:, self.k - 1])
        least = floor - 2 * self.norms * _norms(block).max() * _margin(block.shape[1])
        truncated = (scores.shape[1] < len(block)) & (scores[:, -1] >= least)  # there may be more than faiss returned
        query, column = np.nonzero((scores >= least[:, None]) & ~truncated[:, None])
        if len(query):
            yield query, places[query, column]
        rows = np.flatnonzero(truncated)
        for part in np.split(rows, range(QUERY_ROWS, len(rows), QUERY_ROWS)):
            candidates = self.queries[part] @ block.T >= least[part, None]
            for group in _groups(candidates):
                query, passage = np.nonzero(candidates[group])
                yield part[group][query], passage

    def _nearest(self, block: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores [n, number], descending, and rows of the block."""
        if self.device != "cpu":
            return _nearest_by_product(self.queries_there, block, number)
        import faiss

        faiss.cvar.distance_compute_blas_threshold = BLAS_MIN_SIZE
        return faiss.knn(self.queries, block, number, metric=faiss.METRIC_INNER_PRODUCT)

    def _exact(self, query: np.ndarray, block: np.ndarray, passage: np.ndarray) -> np.ndarray:
        """The inner products of the pairs, summed in float64, as float32."""
        exact = np.empty(len(query), np.float32)
        for start in range(0, len(query), PAIR_ROWS):
            pair = slice(start, start + PAIR_ROWS)
            # a separate sum for each pair: its rounding must not depend on the other pairs
            exact[pair] = np.einsum("ij,ij->i", self.doubles[query[pair]], block[passage[pair]].astype(np.float64))
        return exact

    def _merge(self, query: np.ndarray, scores: np.ndarray, ids: np.ndarray) -> None:
        """Adds scored pairs (grouped by query) to the best passages, and keeps the k best of each query."""
        touched, starts = np.unique(query, return_index=True)
        bounds = np.append(starts, len(query))
        for row, first, last in zip(touched, bounds, bounds[1:], strict=False):
            joined = np.concatenate([self.scores[row], scores[first:last]])
            names = np.concatenate([self.ids[row], ids[first:last]])
            order = _best(joined, names, self.k)
            self.scores[row], self.ids[row] = joined[order], names[order]
            if len(order) == self.k:
                self.floor[row] = joined[order[-1]]

    def best_hits(self) -> BestHits:
        """The best passages so far, for `join`."""
        counts = np.array([len(scores) for scores in self.scores], np.int64)
        return BestHits(counts, np.concatenate(self.scores), np.concatenate(self.ids))

    def join(self, hits: BestHits) -> None:
        """Adds the best passages of a search of other passages, for the same queries and the same k."""
        self._merge(np.repeat(np.arange(len(hits.counts)), hits.counts), hits.scores, hits.ids)

    def hits(self) -> Iterator[list[tuple[str, float]]]:
        """For each query its (id, score) pairs in canonical order."""
        for scores, ids in zip(self.scores, self.ids, strict=True):
            yield [(name.decode("utf-8"), float(score)) for name, score in zip(ids, scores, strict=True)]


def _best(scores: np.ndarray, ids: np.ndarray, k: int) -> np.ndarray:
    """Positions of the k best in canonical order; ids are looked at only where scores are equal."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    if (ranked[1:] == ranked[:-1]).any():
        order = np.lexsort((ids, scores))[::-1]
    return order[:k]


def _groups(candidates) -> Iterator[slice]:
    """Consecutive rows of a mask [queries, passages] with at most MAX_PAIRS candidates together (but at least one row).

    Usually one group has all rows; several are needed where an encoder gives many passages the same vector.
    """
    total = int(np.count_nonzero(candidates))
    if total <= MAX_PAIRS:
        if total:
            yield slice(0, len(candidates))
        return
    first, total = 0, 0
    for row, count in enumerate(np.count_nonzero(candidates, axis=1).tolist()):
        if total and total + count > MAX_PAIRS:
            yield slice(first, row)
            first, total = row, 0
        total += count
    if total:
        yield slice(first, len(candidates))


def _nearest_by_product(queries: Tensor, block: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """What `faiss.knn` returns, on the device of the queries, in float32 (torch takes no TF32 unless told to)."""
    import torch

    passages = torch.tensor(block, device=queries.device).T
    best = [(part @ passages).topk(number) for part in queries.split(QUERY_ROWS)]
    scores, places = (torch.cat(parts).cpu().numpy() for parts in zip(*best, strict=True))
    return scores, places


def _norms(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))


def _margin(dimension: int) -> float:
    """How far a float32 inner product may be off, as a share of the product of the norms.

    Rounding errors add up like a random walk over the d products: 4 sqrt(d) units in the last place is far out.
    """
    return 4.0 * dimension**0.5 * 2.0**-24
