"""BM25 as Lucene defines it, over an index in blocks, by bm25s; and the choice of k1 and b.

    score(q, d) = sum over the terms t of q of  idf(t) * f(t, d) / (f(t, d) + k1 * (1 - b + b * |d| / mean |d|))
    idf(t)      = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

(Kamphuis et al. 2020, "Which BM25 do you mean?", the accurate variant of Lucene; a term that a query repeats counts as
often.) Lucene itself keeps a passage's length in one byte (`lucene_lengths`), and sums in float32. Here lengths are
exact unless a search is to round them too, and sums in float64 are rounded to float32 at the end. Among equal scores
the highest id comes first, the canonical order of runs, so that a run does not depend on the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from stele.retrieval.lexical.bm25_index import Block, Statistics, read_blocks

EXTRA = 28  # passages beyond k that bm25s returns, to see whether equal scores were cut off
FEW = 5_000_000  # queries times passages of a block; up to here sums take less than bm25s's compilation, ten seconds
CUT = 100  # of the MRR that parameters are chosen by
DIGITS = 4  # of that MRR, as trec_eval prints it; among equals the least k1 wins, then the least b

Hits = list[tuple[str, float]]
Parameters = tuple[float, float]  # k1, b
Ties = Literal["highest", "lowest"]
Query = Sequence[int] | Mapping[int, float]  # the numbers of its terms, with repetitions, or the weight of each


def lucene_lengths(lengths: np.ndarray) -> np.ndarray:
    """Lengths as Lucene reads them again from one byte (its SmallFloat, intToByte4): up to 40 terms exactly, of longer
    ones what is above 24 to four significant bits, rounded down.

    >>> lucene_lengths(np.array([40, 41, 42, 1000, 1048])).tolist()
    [40, 40, 42, 984, 1048]
    """
    above = np.maximum(lengths - 24, 0)
    dropped = np.maximum(np.frexp(above)[1] - 4, 0)  # frexp's exponent is the number of bits
    return np.where(lengths < 24, lengths, 24 + (above >> dropped << dropped)).astype(lengths.dtype)


def weights(block: Block, collection: Statistics, parameters: Parameters) -> np.ndarray:
    """What each occurrence of a block adds to a score, float64 [n]."""
    k1, b = parameters
    idf = np.log1p((collection.passages - collection.frequencies + 0.5) / (collection.frequencies + 0.5))
    norm = k1 * (1 - b + b * block.lengths / collection.length)
    return np.repeat(idf, np.diff(block.indptr)) * block.counts / (block.counts + norm[block.passages])


class TopK:
    """The k best passages of each query so far, those that share the last one's score included.

    queries: the numbers of each one's terms, with repetitions, or all of them mappings of term number to weight. `add`
    takes the blocks of a collection in their order.
    """

    def __init__(self, queries: Sequence[Query], k: int, collection: Statistics, parameters: Parameters) -> None:
        self.given = queries
        self.weighted = any(isinstance(query, Mapping) for query in queries)
        self.k, self.collection, self.parameters, self.start = k, collection, parameters, 0
        # a query none of whose terms occurs finds nothing
        self.queries = {n: [t for t in terms if collection.frequencies[t]] for n, terms in enumerate(queries)}
        self.scores = [np.empty(0, np.float32)] * len(queries)
        self.rows = [np.empty(0, np.int64)] * len(queries)

    def add(self, block: Block, threads: int = 1) -> None:
        """Takes in the next block."""
        size = len(block.lengths)
        if self.weighted or len(self.queries) * size <= FEW:
            self._sum(block)
        else:
            self._search(block, threads)
        self.start += size

    def _sum(self, block: Block) -> None:
        """What each term adds, one after another: the sums of bm25s, which knows no weights and has to be compiled."""
        added = weights(block, self.collection, self.parameters)
        for number, terms in self.queries.items():
            scores = np.zeros(len(block.lengths))
            for term in terms:
                occurrences = slice(block.indptr[term], block.indptr[term + 1])
                weight = self.given[number][term] if self.weighted else 1.0
                scores[block.passages[occurrences]] += weight * added[occurrences]
            rows = np.flatnonzero(scores)
            self._merge(number, scores[rows].astype(np.float32), rows + self.start)

    def _search(self, block: Block, threads: int) -> None:
        """The same by bm25s."""
        size, engine = len(block.lengths), _engine()
        engine.unique_token_ids_set = range(len(self.collection.frequencies))
        engine.scores = {
            "data": weights(block, self.collection, self.parameters),
            "indices": block.passages,
            "indptr": block.indptr,
            "num_docs": size,
        }
        queries = {n: numbers for n, numbers in self.queries.items() if numbers}
        if not queries:
            return
        k = min(self.k + EXTRA, size)
        hits = engine.retrieve(list(queries.values()), k=k, n_threads=threads, show_progress=False)
        for (number, terms), rows, scores in zip(queries.items(), hits.documents, hits.scores, strict=True):
            single = scores.astype(np.float32)
            if k < size and single[-1] > 0 and single[-1] == single[self.k - 1]:
                # more passages may share the score of the k-th than were returned
                single = engine.get_scores_from_ids(terms).astype(np.float32)
                rows = np.arange(size)
            self._merge(number, single, rows + self.start)

    def _merge(self, query: int, scores: np.ndarray, rows: np.ndarray) -> None:
        positive = scores > 0
        scores = np.concatenate([self.scores[query], scores[positive]])
        rows = np.concatenate([self.rows[query], rows[positive]])
        if len(scores) > self.k:
            kept = scores >= np.partition(scores, -self.k)[-self.k]
            scores, rows = scores[kept], rows[kept]
        self.scores[query], self.rows[query] = scores, rows

    def ranked(self, query: int, ids: np.ndarray, ties: Ties = "highest") -> tuple[np.ndarray, np.ndarray]:
        """(rows, scores) of a query's k best passages; `ids` are those of the whole collection.

        `ties`: which id comes first among equal scores; canonical is the highest.
        """
        sign = 1 if ties == "highest" else -1
        order = np.lexsort((ids[self.rows[query]], sign * self.scores[query]))[::-sign][: self.k]
        return self.rows[query][order], self.scores[query][order]


@cache
def _engine():
    """bm25s's searcher, compiled once a process; the index that it searches is set block by block."""
    from bm25s import BM25

    engine = BM25(method="lucene", dtype="float64", backend="numba")
    engine.nonoccurrence_array = None  # of other variants than Lucene's
    return engine


def search(
    folder: Path,
    ids: np.ndarray,
    queries: Sequence[Query],
    k: int,
    collection: Statistics,
    parameters: Parameters,
    threads: int = 1,
    rounded: bool = False,
    ties: Ties = "highest",
) -> list[Hits]:
    """The k best passages of each query with their scores, best first; `ids` are those of the index in `folder`.

    `rounded`: with Lucene's lengths. `ties`: which id comes first among equal scores. Queries have either terms, or
    weights of terms.
    """
    best = TopK(queries, k, collection, parameters)
    for block in read_blocks(folder):
        best.add(block._replace(lengths=lucene_lengths(block.lengths)) if rounded else block, threads)
    hits = [best.ranked(number, ids, ties) for number in range(len(queries))]
    return [[(ids[row].decode(), float(score)) for row, score in zip(*one, strict=True)] for one in hits]


def choose(mrr_of: Mapping[Parameters, float]) -> Parameters:
    """The parameters with the highest MRR.

    >>> choose({(0.9, 0.4): 0.25, (0.1, 0.4): 0.25001, (0.1, 0.5): 0.2})
    (0.1, 0.4)
    """
    return max(mrr_of, key=lambda parameters: (round(mrr_of[parameters], DIGITS), -parameters[0], -parameters[1]))
