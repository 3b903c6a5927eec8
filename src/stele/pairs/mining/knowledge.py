"""The knowledge base of one language, candidates of pairs as packed numbers, and sketches of mined pairs.

A candidate names the two segments of a pair by numbers: language, page, and place, which is a sentence or a passage of
the page, as the method reads it. Candidates far outnumber the wanted pairs, so their texts are read last.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from stele.artifacts.knowledge_base import links_path, read_pages, symmetric_pairs
from stele.files.reading import reading
from stele.training.sampling import MASK64, derive, mixed

PAIRS = "pairs.parquet"  # beside the record of `pairs knowledge_pairs`
BATCH = 1 << 20  # links or pages that are read at a time
_PAGE, _PLACE = 31, 32  # bits of a packed segment; the first bit is the language
RANDOM = (1 << 20) - 1  # range of a drawn place: makes any number of passages equally likely


class Candidates(NamedTuple):
    """Candidate pairs: two arrays uint64 [n] of packed segments (`pack`)."""

    query: np.ndarray
    passage: np.ndarray


def pack(language: np.ndarray | int, page: np.ndarray, place: np.ndarray | int) -> np.ndarray:
    """Packs language (0 or 1), page (below 2**31) and place (below 2**32), in this order, into uint64 [n]."""
    page, place = np.asarray(page).astype(np.uint64), np.asarray(place).astype(np.uint64)
    return np.asarray(language).astype(np.uint64) << np.uint64(63) | page << np.uint64(_PLACE) | place


def unpack(segments: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unpacks segments into (language, page, place): uint8, int32 and uint32, [n] each."""
    language = segments >> np.uint64(_PAGE + _PLACE)
    page = segments >> np.uint64(_PLACE) & np.uint64((1 << _PAGE) - 1)
    return language.astype(np.uint8), page.astype(np.int32), (segments & np.uint64((1 << _PLACE) - 1)).astype(np.uint32)


def hashed(candidates: Candidates, key: int) -> np.ndarray:
    """Hashes each pair with a key into uint64 [n]; a pair's hash depends on nothing else in the arrays."""
    return mixed(mixed(candidates.query, np.uint64(key)) ^ candidates.passage, np.uint64(~key & MASK64))


def swapped(candidates: Candidates, key: int) -> Candidates:
    """Swaps query and passage of about half of the pairs; each pair's own coin flip, derived from `key`, decides."""
    coin = hashed(candidates, derive(key, "coin")) >> np.uint64(63) == 1
    query = np.where(coin, candidates.passage, candidates.query)
    return Candidates(query, np.where(coin, candidates.query, candidates.passage))


def sample(batches: Iterable[Candidates], key: int, most: int | None) -> tuple[Candidates, int]:
    """Samples the `most` candidates of smallest hash. Returns (them, by ascending hash; the number of candidates).

    Batches and their order do not matter; a smaller sample begins a larger one. Memory: `most` rows and one batch.
    """
    waiting, size, total, bound = [], 0, 0, np.uint64(MASK64)
    for batch in batches:
        total += len(batch.query)
        hashes = hashed(batch, key)
        below = hashes <= bound
        waiting.append((hashes[below], batch.query[below], batch.passage[below]))
        size += len(waiting[-1][0])
        if most is not None and size >= most + max(most // 4, BATCH):
            waiting = [_lowest(waiting, most)]
            size, bound = len(waiting[0][0]), waiting[0][0].max()
    if not waiting:
        return Candidates(*[np.zeros(0, np.uint64)] * 2), 0
    hashes, query, passage = _lowest(waiting, most)
    order = np.argsort(hashes)
    if (hashes[order[1:]] == hashes[order[:-1]]).any():  # hardly ever: ties are then broken by the numbers
        order = np.lexsort((passage, query, hashes))
    return Candidates(query[order[:most]], passage[order[:most]]), total


def _lowest(parts: Sequence[tuple[np.ndarray, ...]], most: int | None) -> tuple[np.ndarray, ...]:
    """Selects (hashes, query, passage) of the `most` rows of lowest hash, with all rows that tie with the last."""
    columns = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
    if most is None or len(columns[0]) <= most:
        return columns
    below = columns[0] <= np.partition(columns[0], most - 1)[most - 1]
    return tuple(column[below] for column in columns)


@dataclass(frozen=True)
class Knowledge:
    """The knowledge base of one language, with the memory, threads and folder that a join of its links may use."""

    record: Path
    memory_mb: int
    threads: int
    temporary: Path

    @cached_property
    def counts(self) -> dict[str, int]:
        """Numbers of pages, of pages with an entity, and of links. Raises SteleError for an unreadable file."""
        path = links_path(self.record)
        with reading(path, "Parquet file", "build the knowledge base again"):
            links = pq.read_metadata(path).num_rows
        return {"pages": len(self.entities), "pages_with_entity": len(self.by_entity[0]), "links": links}

    @cached_property
    def entities(self) -> np.ndarray:
        """Entity of each page, int64 [pages]; -1 for a page without one."""
        column = read_pages(self.record, ["entity"]).column("entity")
        return column.fill_null(-1).to_numpy()

    @cached_property
    def sentences(self) -> np.ndarray:
        """Number of sentences of each page, int32 [pages]."""
        return read_pages(self.record, ["sentences"]).column("sentences").to_numpy()

    @cached_property
    def by_entity(self) -> tuple[np.ndarray, np.ndarray]:
        """Pages with an entity, sorted by entity and then by page: (entities int64 [n], pages int32 [n])."""
        pages = np.flatnonzero(self.entities >= 0)
        order = np.argsort(self.entities[pages], kind="stable")
        return self.entities[pages[order]], pages[order].astype(np.int32)

    def links(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Yields all links in batches of (page, sentence, target), int32 [n] each."""
        path = links_path(self.record)
        with reading(path, "Parquet file", "build the knowledge base again"), pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH, columns=["page", "sentence", "target"]):
                yield tuple(column.to_numpy() for column in batch.columns)

    def symmetric(self) -> Iterator[tuple[np.ndarray, ...]]:
        """Yields (page, sentence, other page, other sentence), int32 [n] each, in batches.

        They are the pairs of sentences that link to each other's pages (KEPT, equation 2), each pair once.
        """
        path = links_path(self.record)
        for batch in symmetric_pairs(path, self.memory_mb, self.threads, self.temporary):
            yield tuple(column.to_numpy() for column in batch.columns)

    def pages_of(self, entities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Finds all pages of some entities: (index into `entities` int64 [n], page int32 [n]). Entity -1 has none."""
        known, pages = self.by_entity
        begin, end = (np.searchsorted(known, entities, side=side) for side in ("left", "right"))
        count = end - begin
        index = np.repeat(np.arange(len(entities)), count)
        inside = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
        return index, pages[begin[index] + inside]


SKETCH = "sketch.npy"  # beside the record of `pairs knowledge_pairs`: uint64, ascending
SIZE = 4096  # hashes in a sketch; an overlap of 50 % is estimated to within 2 points


def sketch(hashes: Iterable[int], before: np.ndarray | None = None) -> np.ndarray:
    """Sketch of pairs (`pair_hash`) and of the sketch `before`: the smallest hashes, uint64 [at most SIZE], ascending.

    The smallest hashes of two sets together are a random sample of their union, so the share of them that is in both
    sets estimates the share of the union in both (bottom-k sketches; Cohen and Kaplan 2007). Up to SIZE pairs the count
    is exact.
    """
    numbers = np.fromiter(hashes, np.uint64)
    return np.unique(numbers if before is None else np.concatenate([before, numbers]))[:SIZE]


def bare(text: str) -> str:
    """A text without case and white space; documents contain no other white space than blanks."""
    return text.lower().replace(" ", "")


def pair_hash(*texts: str) -> int:
    """Hash of a pair of bare texts for a sketch, whichever of them is the query."""
    return int.from_bytes(hashlib.blake2b("\n".join(sorted(texts)).encode(), digest_size=8).digest(), "little")


def read_sketch(record: Path) -> np.ndarray:
    """Reads the sketch, uint64 [n], beside a `pairs knowledge_pairs` record. Raises SteleError if unreadable."""
    with reading(record.parent / SKETCH, "array", "mine these pairs again"):
        return np.load(record.parent / SKETCH, allow_pickle=False)


def shared(sketches: Sequence[np.ndarray], sizes: Sequence[int]) -> int:
    """Number of pairs in common, from two sketches and numbers of pairs; an estimate if one has SIZE pairs or more."""
    both = np.intersect1d(*sketches, assume_unique=True)
    if all(len(hashes) < SIZE for hashes in sketches):
        return len(both)
    union = np.union1d(*sketches)[:SIZE]
    share = np.isin(union, both).sum() / len(union)
    return round(share / (1 + share) * sum(sizes))
