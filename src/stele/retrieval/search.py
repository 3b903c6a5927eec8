"""Exact search by inner product, block by block, with memory bounded by the block.

The k best passages of a query are those with the highest score, a score being the inner product summed in float64 and
rounded to float32; among equal scores the highest id comes first (the canonical order of runs, which is trec_eval's).
A fast float32 matrix product finds candidates, with a margin for its rounding; only they are scored exactly. So the
result does not depend on the block size, the order of the blocks or the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

BLOCK_ROWS = 32_768  # passages of one matrix product
QUERY_ROWS = 1_024  # queries of one matrix product: 1,024 x 32,768 scores are 128 MB
PAIR_ROWS = {"cpu": 256, "cuda": 65_536}  # pairs scored exactly at a time: on a CPU what fits its cache
MAX_PAIRS = 1 << 21  # candidates held at a time


class TopK:
    """The k best passages of each query so far.

    queries [n, d] float32; `add` takes blocks of passages in any order and of any size.
    """

    def __init__(self, queries: np.ndarray, k: int, device: str = "cpu", block_rows: int = BLOCK_ROWS) -> None:
        import torch

        self.k, self.device, self.block_rows = k, torch.device(device), block_rows
        self.queries = torch.from_numpy(np.array(queries, dtype=np.float32)).to(self.device)
        self.doubles = self.queries.double()
        self.norms = torch.linalg.vector_norm(self.queries, dim=1)
        self.products = torch.empty(min(QUERY_ROWS, len(queries)) * block_rows, device=self.device)
        self.scores = [np.empty(0, np.float32)] * len(queries)  # per query, descending
        self.ids = [np.empty(0, "S1")] * len(queries)
        # the k-th best score of a query once it has k passages: what a newcomer must reach
        self.floor = np.full(len(queries), -np.inf, np.float32)

    def add(self, vectors: np.ndarray, ids: np.ndarray) -> None:
        """Takes in a block: vectors [m, d] (float32 or float16), ids [m] (bytes)."""
        import torch

        for start in range(0, len(vectors), self.block_rows):
            part = np.array(vectors[start : start + self.block_rows], dtype=np.float32)
            block = torch.from_numpy(part).to(self.device)
            reach = torch.linalg.vector_norm(block, dim=1).max()
            for first in range(0, len(self.queries), QUERY_ROWS):
                rows = slice(first, first + QUERY_ROWS)
                found = self._candidates(rows, block, self.norms[rows] * reach * _margin(block.shape[1]))
                for group in _groups(found):
                    query, passage = found[group].nonzero(as_tuple=True)
                    query = query + (first + group.start)
                    exact = self._exact(query, block, passage)
                    self._merge(query.cpu().numpy(), exact, ids[start + passage.cpu().numpy()])

    def _candidates(self, rows: slice, block, margin):
        """Which pairs (query of `rows`, passage of `block`) may belong to the k best: a mask [queries, passages]."""
        import torch

        queries = self.queries[rows]
        scores = self.products[: len(queries) * len(block)].view(len(queries), len(block))
        with _full_precision():
            torch.mm(queries, block.T, out=scores)
        floor = torch.from_numpy(self.floor[rows]).to(self.device)
        fresh = torch.isinf(floor)
        if len(block) >= self.k and fresh.any():  # the k-th best of this block is a floor as good as any
            kth = torch.topk(scores[fresh], self.k, dim=1, sorted=False).values.amin(1)
            floor[fresh] = kth
        return scores >= (floor - 2 * margin)[:, None]

    def _exact(self, query, block, passage) -> np.ndarray:
        """The inner products of the pairs, summed in float64, as float32."""
        on_cpu = self.device.type == "cpu"
        exact, step = np.empty(len(query), np.float32), PAIR_ROWS["cpu" if on_cpu else "cuda"]
        for start in range(0, len(query), step):
            pair = slice(start, start + step)
            left, right = self.doubles[query[pair]], block[passage[pair]].double()
            # a sum of its own for each pair: its rounding must not depend on the pairs beside it
            sums = np.einsum("ij,ij->i", left.numpy(), right.numpy()) if on_cpu else (left * right).sum(1).cpu().numpy()
            exact[pair] = sums
        return exact

    def _merge(self, query: np.ndarray, scores: np.ndarray, ids: np.ndarray) -> None:
        """Joins scored pairs (grouped by query) to what is kept, and keeps the k best of each query."""
        touched, starts = np.unique(query, return_index=True)
        bounds = np.append(starts, len(query))
        for row, first, last in zip(touched, bounds, bounds[1:], strict=False):
            joined = np.concatenate([self.scores[row], scores[first:last]])
            names = np.concatenate([self.ids[row], ids[first:last]])
            order = _best(joined, names, self.k)
            self.scores[row], self.ids[row] = joined[order], names[order]
            if len(order) == self.k:
                self.floor[row] = joined[order[-1]]

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


def _groups(found) -> Iterator[slice]:
    """Consecutive rows of a mask with at most MAX_PAIRS candidates together (but one row at least).

    Usually that is all rows at once; only where an encoder gives many passages the same vector it is not.
    """
    if (everything := int(found.count_nonzero())) <= MAX_PAIRS:
        if everything:
            yield slice(0, len(found))
        return
    first, total = 0, 0
    for row, count in enumerate(found.count_nonzero(1).tolist()):
        if total and total + count > MAX_PAIRS:
            yield slice(first, row)
            first, total = row, 0
        total += count
    if total:
        yield slice(first, len(found))


@contextmanager
def _full_precision() -> Iterator[None]:
    """Products in real float32: the margin below knows nothing of TF32 or bfloat16 inside a product."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _margin(dimension: int) -> float:
    """How far a float32 inner product may be off, as a share of the product of the norms.

    Rounding errors add up like a random walk over the d products: 4 sqrt(d) units in the last place is far out.
    """
    return 4.0 * dimension**0.5 * 2.0**-24
