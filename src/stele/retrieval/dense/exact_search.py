"""Exact search by inner product, block by block, with memory bounded by the block.

A score is the inner product summed in float64 and rounded to float32; among equal scores the highest id comes first
(the canonical order of runs). faiss finds a few more than k candidates (torch by a product, on a GPU that faiss lacks);
only they are scored exactly. So the result does not depend on blocks, threads or the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

BLOCK_BYTES = 1 << 28  # float32 passages that faiss searches at a time: a block costs about k exact products per query
EXTRA = 32  # candidates beyond k
GPU_MAX_K = 2_048  # the most candidates that faiss returns on a GPU; torch takes more
MAX_SCORES = 1 << 25  # of queries against a whole block at a time on a GPU: 128 MB
PAIR_ROWS = 256  # passages scored exactly at a time: what fits a cache
MAX_PAIRS = 1 << 21  # candidates held at a time where an encoder gives many passages the same vector
BLAS_MIN_SIZE = 1  # smallest size of queries for a BLAS product; faiss's default, 128,000, slows few queries


class BestHits(NamedTuple):
    """Best passages of n queries: counts int64 [n]; scores float32 and ids bytes, both [sum of counts], by query."""

    counts: np.ndarray
    scores: np.ndarray
    ids: np.ndarray


class TopK:
    """Keeps the k best passages of each query (float32 [n, d]) so far; looks for candidates on `device`."""

    def __init__(self, queries: np.ndarray, k: int, device: str = "cpu", block_rows: int | None = None) -> None:
        self.k = k
        self.block_rows = block_rows or max(1, BLOCK_BYTES // (4 * queries.shape[1]))
        self.queries = np.ascontiguousarray(queries, dtype=np.float32)
        self.doubles = self.queries.astype(np.float64)
        self.norms = _norms(self.queries)
        self.device = str(device)
        on_gpu = self.device != "cpu"
        self.gpu = gpu_resources() if on_gpu and k + EXTRA <= GPU_MAX_K else None
        if on_gpu and self.gpu is None:
            import torch

            self.queries_there = torch.from_numpy(self.queries).to(self.device)
        self.scores = [np.empty(0, np.float32)] * len(queries)  # per query, descending
        self.ids = [np.empty(0, "S1")] * len(queries)
        # k-th best score of a query, which a new passage must reach; -inf before it has k
        self.floor = np.full(len(queries), -np.inf, np.float32)

    def add(self, vectors: np.ndarray, ids: np.ndarray) -> None:
        """Searches a block: vectors [m, d] (float32 or float16), ids [m] (bytes)."""
        for start in range(0, len(vectors), self.block_rows):
            block = np.ascontiguousarray(vectors[start : start + self.block_rows], dtype=np.float32)
            names = ids[start : start + len(block)]
            for query, passage in self._candidates(block):
                for row, part in _by_query(query):
                    self._merge(row, self._exact(row, block, passage[part]), names[passage[part]])

    def _candidates(self, block: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yields indices (queries, passages) of pairs that may be among the k best; a query's pairs are adjacent."""
        scores, places = self._nearest(block, min(self.k + EXTRA, len(block)))
        floor = self.floor
        if scores.shape[1] >= self.k:  # the k-th best of this block is also a lower bound
            floor = np.maximum(floor, scores[:, self.k - 1])
        least = floor - 2 * self.norms * _norms(block).max() * _margin(block.shape[1])
        truncated = (scores.shape[1] < len(block)) & (scores[:, -1] >= least)  # there may be more than faiss returned
        query, column = np.nonzero((scores >= least[:, None]) & ~truncated[:, None])
        if len(query):
            yield query, places[query, column]
        rows = np.flatnonzero(truncated)
        height = max(1, MAX_PAIRS // len(block))
        for part in np.split(rows, range(height, len(rows), height)):
            query, passage = np.nonzero(self.queries[part] @ block.T >= least[part, None])
            yield part[query], passage

    def _nearest(self, block: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Approximate scores [n, number], descending, and the rows of the block that have them, [n, number]."""
        if self.device != "cpu" and self.gpu is None:
            return _nearest_by_product(self.queries_there, block, number)
        import faiss

        metric = faiss.METRIC_INNER_PRODUCT
        if self.gpu is not None:
            device = int(self.device.partition(":")[2] or -1)  # -1: the current one
            return faiss.knn_gpu(self.gpu, self.queries, block, number, metric=metric, device=device)
        faiss.cvar.distance_compute_blas_threshold = BLAS_MIN_SIZE
        return faiss.knn(self.queries, block, number, metric=metric)

    def _exact(self, query: int, block: np.ndarray, passages: np.ndarray) -> np.ndarray:
        """Inner products of a query with `passages` of a block, summed in float64, rounded to float32 [passages]."""
        exact = np.empty(len(passages), np.float32)
        for start in range(0, len(passages), PAIR_ROWS):
            rows = slice(start, start + PAIR_ROWS)
            # a separate sum for each pair: its rounding must not depend on the other pairs
            exact[rows] = np.vecdot(block[passages[rows]].astype(np.float64), self.doubles[query])
        return exact

    def _merge(self, query: int, scores: np.ndarray, ids: np.ndarray) -> None:
        joined = np.concatenate([self.scores[query], scores])
        names = np.concatenate([self.ids[query], ids])
        order = _best(joined, names, self.k)
        self.scores[query], self.ids[query] = joined[order], names[order]
        if len(order) == self.k:
            self.floor[query] = joined[order[-1]]

    def best_hits(self) -> BestHits:
        """Returns the best passages so far, as arrays for `join`."""
        counts = np.array([len(scores) for scores in self.scores], np.int64)
        return BestHits(counts, np.concatenate(self.scores), np.concatenate(self.ids))

    def join(self, hits: BestHits) -> None:
        """Merges the best passages of another search: other passages, the same queries, the same k."""
        for row, part in _by_query(np.repeat(np.arange(len(hits.counts)), hits.counts)):
            self._merge(row, hits.scores[part], hits.ids[part])

    def hits(self) -> Iterator[list[tuple[str, float]]]:
        """Yields each query's list of (id, score) in canonical order."""
        for scores, ids in zip(self.scores, self.ids, strict=True):
            yield [(name.decode("utf-8"), float(score)) for name, score in zip(ids, scores, strict=True)]


def _by_query(query: np.ndarray) -> Iterator[tuple[int, slice]]:
    """Yields (query, slice of its entries) for each query number of an array [n] in which equal ones are adjacent."""
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    bounds = np.append(starts, len(query)).tolist()
    for row, first, last in zip(query[starts].tolist(), bounds, bounds[1:], strict=False):
        yield row, slice(first, last)


def _best(scores: np.ndarray, ids: np.ndarray, k: int) -> np.ndarray:
    """Positions of the k best scores in canonical order; ids are compared only if some scores are equal."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    if (ranked[1:] == ranked[:-1]).any():
        order = np.lexsort((ids, scores))[::-1]
    return order[:k]


def gpu_resources() -> Any:
    """Resources with which faiss searches on a GPU; None without a GPU or a faiss that is built for GPUs."""
    try:
        import faiss
    except ImportError:
        return None
    if hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus() > 0:
        return faiss.StandardGpuResources()
    return None


def _nearest_by_product(queries: Tensor, block: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Computes what `faiss.knn` returns on the device of `queries`, in float32 (by default torch uses no TF32)."""
    import torch

    passages = torch.tensor(block, device=queries.device).T
    rows = max(1, MAX_SCORES // len(block))
    best = [(part @ passages).topk(number) for part in queries.split(rows)]
    scores, places = (torch.cat(parts).cpu().numpy() for parts in zip(*best, strict=True))
    return scores, places


def _norms(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", vectors, vectors))


def _margin(dimension: int) -> float:
    """Bound on the rounding error of a float32 inner product, as a share of the product of the norms.

    Rounding errors add up like a random walk over the d products; 4 sqrt(d) units in the last place are rarely reached.
    """
    return 4.0 * dimension**0.5 * 2.0**-24
