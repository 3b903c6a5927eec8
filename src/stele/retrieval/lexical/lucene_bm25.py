"""BM25 as Lucene defines it: an index of the queries' terms, stored in blocks, and a search of it by bm25s.

    score(q, d) = sum over the terms t of q of  idf(t) * f(t, d) / (f(t, d) + k1 * (1 - b + b * |d| / mean |d|))
    idf(t)      = ln(1 + (N - n(t) + 0.5) / (n(t) + 0.5))

(Kamphuis et al. 2020, "Which BM25 do you mean?", the accurate variant of Lucene; a term that a query repeats counts as
often.) Lucene itself sums in float32; here sums in float64 are rounded to float32 at the end. The index has only the
terms of the queries, and the lengths of passages: a twentieth of a full index, and exact. It is cut into blocks of
passages, a file each: a killed job resumes after the last complete block, and memory is bounded by a block.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.files.atomic import atomic_file, atomic_write_json

BLOCK = 1 << 18  # passages of a block: their scores, 2 MB of float64, stay in a core's cache
EXTRA = 28  # passages beyond k that bm25s returns, to see whether equal scores were cut off
FEW = 5_000_000  # queries times passages of a block up to which plain sums are quicker than compiling bm25s (10 s)
CUT = 100  # of the MRR that parameters are chosen by
DIGITS = 4  # of that MRR, as trec_eval prints it; among equal ones the least k1 wins, then the least b

Hits = list[tuple[str, float]]
Parameters = tuple[float, float]  # k1, b
ANSERINI: Parameters = (0.9, 0.4)  # Anserini's default; its MRR is recorded to show the gain of tuning
Ties = Literal["highest", "lowest"]
Query = Sequence[int] | Mapping[int, float]  # the numbers of its terms, with repetitions, or the weight of each

Terms = Callable[[str], list[int]]  # text -> the number of each of its terms, -1 for one that no query has


class Block(NamedTuple):
    """Occurrences of terms in a block of passages; those of term t are [indptr[t], indptr[t + 1]).

    indptr     int64 [terms + 1]
    passages   int32 [n], rows of the block, ascending within a term
    counts     int32 [n], how often the term occurs in the passage
    lengths    int32 [rows], terms of a passage
    ids        bytes [rows]
    """

    indptr: np.ndarray
    passages: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray
    ids: np.ndarray


class Statistics(NamedTuple):
    """Counts over a collection: passages with any term, their mean length, passages with each term, int64 [terms]."""

    passages: int
    length: float
    frequencies: np.ndarray


class Index(NamedTuple):
    """A finished index: its folder, the ids of its passages, bytes [n], and the counts over its collection."""

    folder: Path
    ids: np.ndarray
    collection: Statistics


def write_index(folder: Path, items: Iterable[tuple[str, str]], terms: Terms, number: int, rows: int = BLOCK) -> Index:
    """Indexes (id, text) items in blocks of `rows`, without those already written.

    `number` is the number of terms. Raises SteleError for an empty collection and for an id that appears twice.
    """
    folder.mkdir(parents=True, exist_ok=True)
    finished = folder / "passages.json"
    if is_new := not finished.exists():
        done = len(list(folder.glob("block-*.npz")))
        rest = islice(items, done * rows, None)
        while batch := list(islice(rest, rows)):
            with atomic_file(_path(folder, done), "wb") as handle:
                np.savez(handle, **make_block(batch, terms, number)._asdict())
            done += 1
        if not done:
            raise SteleError(f"collection {folder.name}: it has no passage")
    ids = np.concatenate(list(_read(folder, "ids")))
    if is_new:
        ordered = np.sort(ids)
        if len(twice := ordered[1:][ordered[1:] == ordered[:-1]]):
            raise SteleError(f"collection {folder.name}: passage {twice[0].decode()!r} appears twice")
        atomic_write_json(finished, len(ids))
    return Index(folder, ids, statistics(folder))


def make_block(items: Iterable[tuple[str, str]], terms: Terms, number: int) -> Block:
    """Counts the terms of (id, text) items; `number` is the number of terms in the index."""
    occurrences, lengths, ids = array("i"), array("i"), []
    for name, text in items:
        of_text = terms(text)
        occurrences.extend(of_text)
        lengths.append(len(of_text))
        ids.append(name.encode("utf-8"))
    of_passage, term = np.array(lengths, np.int32), np.array(occurrences, np.int32)
    passage = np.repeat(np.arange(len(ids), dtype=np.int64), of_passage)[term >= 0]
    places, counts = np.unique(term[term >= 0] * np.int64(len(ids)) + passage, return_counts=True)
    indptr = np.searchsorted(places, np.arange(number + 1, dtype=np.int64) * len(ids))
    passages = (places % len(ids)).astype(np.int32)
    return Block(indptr, passages, counts.astype(np.int32), of_passage, np.array(ids, dtype=np.bytes_))


def statistics(folder: Path) -> Statistics:
    """Computes the statistics of a whole collection. As in Lucene, a passage without any term does not count."""
    lengths = [(int(np.count_nonzero(values)), int(values.sum(dtype=np.int64))) for values in _read(folder, "lengths")]
    passages, terms = (sum(column) for column in zip(*lengths, strict=True))
    frequencies = sum(np.diff(values) for values in _read(folder, "indptr"))
    return Statistics(passages, terms / passages if passages else 1.0, frequencies)


def _path(folder: Path, number: int) -> Path:
    return folder / f"block-{number:05d}.npz"


def _read(folder: Path, name: str) -> Iterator[np.ndarray]:
    """Reads one column of each block, without reading the others."""
    number = 0
    while (path := _path(folder, number)).exists():
        with np.load(path) as columns:
            yield columns[name]
        number += 1


def lucene_lengths(lengths: np.ndarray) -> np.ndarray:
    """Rounds lengths [n] as Lucene does to store them in one byte (its SmallFloat, intToByte4).

    Lengths up to 40 terms are exact; the part of longer ones above 24 is rounded down to four significant bits.

    >>> lucene_lengths(np.array([40, 41, 42, 1000, 1048])).tolist()
    [40, 40, 42, 984, 1048]
    """
    above = np.maximum(lengths - 24, 0)
    dropped = np.maximum(np.frexp(above)[1] - 4, 0)  # frexp's exponent is the number of bits
    return np.where(lengths < 24, lengths, 24 + (above >> dropped << dropped)).astype(lengths.dtype)


def weights(block: Block, collection: Statistics, parameters: Parameters) -> np.ndarray:
    """BM25 contribution of each term occurrence in a block to a score, float64 [n]."""
    k1, b = parameters
    idf = np.log1p((collection.passages - collection.frequencies + 0.5) / (collection.frequencies + 0.5))
    norm = k1 * (1 - b + b * block.lengths / collection.length)
    return np.repeat(idf, np.diff(block.indptr)) * block.counts / (block.counts + norm[block.passages])


class _BestRows:
    """Keeps the k best passages of each query so far, and all that have the same score as the k-th."""

    def __init__(self, queries: Sequence[Query], k: int, collection: Statistics, parameters: Parameters) -> None:
        self.weights_of, self.weighted = queries, any(isinstance(query, Mapping) for query in queries)
        self.k, self.collection, self.parameters, self.start = k, collection, parameters, 0
        # a query none of whose terms occurs finds nothing
        self.queries = {n: [t for t in terms if collection.frequencies[t]] for n, terms in enumerate(queries)}
        self.scores = [np.empty(0, np.float32)] * len(queries)
        self.rows = [np.empty(0, np.int64)] * len(queries)

    def add(self, block: Block, threads: int = 1) -> None:
        """Searches the next block."""
        size = len(block.lengths)
        if self.weighted or len(self.queries) * size <= FEW:
            self._sum(block)
        else:
            self._search(block, threads)
        self.start += size

    def _sum(self, block: Block) -> None:
        """Scores a block term by term; bm25s takes no weights and must be compiled first."""
        added = weights(block, self.collection, self.parameters)
        for number, terms in self.queries.items():
            scores = np.zeros(len(block.lengths))
            for term in terms:
                occurrences = slice(block.indptr[term], block.indptr[term + 1])
                weight = self.weights_of[number][term] if self.weighted else 1.0
                scores[block.passages[occurrences]] += weight * added[occurrences]
            rows = np.flatnonzero(scores)
            self._merge(number, scores[rows].astype(np.float32), rows + self.start)

    def _search(self, block: Block, threads: int) -> None:
        """Scores a block by bm25s, with the same sums as `_sum`."""
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
            is_best = scores >= np.partition(scores, -self.k)[-self.k]
            scores, rows = scores[is_best], rows[is_best]
        self.scores[query], self.rows[query] = scores, rows

    def ranked(self, query: int, ids: np.ndarray, ties: Ties = "highest") -> tuple[np.ndarray, np.ndarray]:
        """Rows, int64 [k], and scores, float32 [k], of a query's best passages, best first; `ids` has all passages."""
        sign = 1 if ties == "highest" else -1
        order = np.lexsort((ids[self.rows[query]], sign * self.scores[query]))[::-sign][: self.k]
        return self.rows[query][order], self.scores[query][order]


@cache
def _engine():
    """Searcher of bm25s, compiled once per process; its index is set block by block."""
    from bm25s import BM25

    engine = BM25(method="lucene", dtype="float64", backend="numba")
    engine.nonoccurrence_array = None  # for other variants than Lucene's
    return engine


def best_rows(
    index: Index,
    queries: Sequence[Query],
    k: int,
    parameters: Parameters,
    threads: int = 1,
    rounded: bool = False,
    ties: Ties = "highest",
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Searches an index; returns rows (int64) and scores (float32) of each query's k best passages, best first.

    queries   the numbers of each query's terms, with repetitions; or for all queries term number -> weight
    rounded   whether lengths are rounded as Lucene stores them
    ties      which id comes first among equal scores; canonical is the highest
    """
    best = _BestRows(queries, k, index.collection, parameters)
    for columns in zip(*(_read(index.folder, name) for name in Block._fields), strict=True):
        block = Block(*columns)
        best.add(block._replace(lengths=lucene_lengths(block.lengths)) if rounded else block, threads)
    return [best.ranked(number, index.ids, ties) for number in range(len(queries))]


def search(index: Index, *args: Any, **options: Any) -> list[Hits]:
    """Searches as `best_rows` does, with its arguments; returns each query's k best (id, score), best first."""
    hits = []
    for rows, scores in best_rows(index, *args, **options):
        names = [name.decode() for name in index.ids[rows].tolist()]
        hits.append(list(zip(names, scores.tolist(), strict=True)))
    return hits


def choose(mrr_of: Mapping[Parameters, float]) -> Parameters:
    """Chooses (k1, b) with the highest MRR, rounded to four digits; the lowest k1, then the lowest b, wins ties.

    >>> choose({(0.9, 0.4): 0.25, (0.1, 0.4): 0.25001, (0.1, 0.5): 0.2})
    (0.1, 0.4)
    """
    return max(mrr_of, key=lambda parameters: (round(mrr_of[parameters], DIGITS), -parameters[0], -parameters[1]))
