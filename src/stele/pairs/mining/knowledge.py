"""The knowledge of one language, candidates of pairs by numbers, and sketches of mined pairs.

A candidate names the two segments of a pair by numbers only: language, page, and a place that the method reads (a
sentence, or which of a page's passages). There are far more candidates than pairs are wanted, so texts come last.
"""

from __future__ import annotations

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
BATCH = 1 << 20  # links or pages of one step
_PAGE, _PLACE = 31, 32  # bits of a packed segment; the first bit is the language
RANDOM = (1 << 20) - 1  # a drawn place: enough for any number of passages to be equally likely


class Candidates(NamedTuple):
    """Pairs by numbers: two arrays uint64 [n] of packed segments (`pack`)."""

    query: np.ndarray
    passage: np.ndarray


def pack(language: np.ndarray | int, page: np.ndarray, place: np.ndarray | int) -> np.ndarray:
    """uint64 [n]: language (0 or 1), page (below 2**31) and place (below 2**32) in one number, in this order."""
    page, place = np.asarray(page).astype(np.uint64), np.asarray(place).astype(np.uint64)
    return np.asarray(language).astype(np.uint64) << np.uint64(63) | page << np.uint64(_PLACE) | place


def unpack(segments: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(language, page, place), uint8, int32 and uint32 [n], of packed segments."""
    language = segments >> np.uint64(_PAGE + _PLACE)
    page = segments >> np.uint64(_PLACE) & np.uint64((1 << _PAGE) - 1)
    return language.astype(np.uint8), page.astype(np.int32), (segments & np.uint64((1 << _PLACE) - 1)).astype(np.uint32)


def hashed(candidates: Candidates, key: int) -> np.ndarray:
    """uint64 [n]: a random number of each pair, the same wherever and with whatever else the pair stands."""
    return mixed(mixed(candidates.query, np.uint64(key)) ^ candidates.passage, np.uint64(~key & MASK64))


def swapped(candidates: Candidates, key: int) -> Candidates:
    """The same pairs, the two sides of each exchanged or not by a coin of its own."""
    coin = hashed(candidates, derive(key, "coin")) >> np.uint64(63) == 1
    query = np.where(coin, candidates.passage, candidates.query)
    return Candidates(query, np.where(coin, candidates.query, candidates.passage))


def sample(batches: Iterable[Candidates], key: int, most: int | None) -> tuple[Candidates, int]:
    """(the `most` candidates of smallest hash in the order of their hashes, how many candidates there are).

    Batches and their order play no part, and fewer are the first of more. Memory is bounded by `most` and one batch.
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
    if (hashes[order[1:]] == hashes[order[:-1]]).any():  # hardly ever; which comes first is then in the numbers, too
        order = np.lexsort((passage, query, hashes))
    return Candidates(query[order[:most]], passage[order[:most]]), total


def _lowest(parts: Sequence[tuple[np.ndarray, ...]], most: int | None) -> tuple[np.ndarray, ...]:
    """(hashes, query, passage) of the `most` rows of lowest hash, and of those that are equal to the last of them."""
    columns = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
    if most is None or len(columns[0]) <= most:
        return columns
    below = columns[0] <= np.partition(columns[0], most - 1)[most - 1]
    return tuple(column[below] for column in columns)


@dataclass(frozen=True)
class Knowledge:
    """The knowledge base of one language, and how much memory a join of its links may take."""

    record: Path
    memory_mb: int
    threads: int
    temporary: Path

    @cached_property
    def counts(self) -> dict[str, int]:
        """Numbers of pages, of pages with an entity, and of links."""
        path = links_path(self.record)
        with reading(path, "Parquet file", "build the knowledge base again"):
            links = pq.read_metadata(path).num_rows
        return {"pages": len(self.entities), "pages_with_entity": len(self.by_entity[0]), "links": links}

    @cached_property
    def entities(self) -> np.ndarray:
        """int64 [pages]: the entity of each page, -1 for none."""
        column = read_pages(self.record, ["entity"]).column("entity")
        return column.fill_null(-1).to_numpy()

    @cached_property
    def sentences(self) -> np.ndarray:
        """int32 [pages]: how many sentences each page has."""
        return read_pages(self.record, ["sentences"]).column("sentences").to_numpy()

    @cached_property
    def by_entity(self) -> tuple[np.ndarray, np.ndarray]:
        """(entities, pages), int64 and int32: the pages that have an entity, by entity and then by page."""
        pages = np.flatnonzero(self.entities >= 0)
        order = np.argsort(self.entities[pages], kind="stable")
        return self.entities[pages[order]], pages[order].astype(np.int32)

    def links(self) -> Iterator[tuple[np.ndarray, ...]]:
        """(page, sentence, target), int32 [n] each, of all links, a batch at a time."""
        path = links_path(self.record)
        with reading(path, "Parquet file", "build the knowledge base again"), pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH, columns=["page", "sentence", "target"]):
                yield tuple(column.to_numpy() for column in batch.columns)

    def symmetric(self) -> Iterator[tuple[np.ndarray, ...]]:
        """(page, sentence, page, sentence), int32 [n] each, of all symmetrically linked sentences (equation 2).

        Each pair of sentences comes once.
        """
        path = links_path(self.record)
        for batch in symmetric_pairs(path, self.memory_mb, self.threads, self.temporary):
            yield tuple(column.to_numpy() for column in batch.columns)

    def pages_of(self, entities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(index, page), int64 and int32: every page of each of some entities, index into `entities`; -1 has none."""
        known, pages = self.by_entity
        begin, end = (np.searchsorted(known, entities, side=side) for side in ("left", "right"))
        count = end - begin
        index = np.repeat(np.arange(len(entities)), count)
        inside = np.arange(len(index)) - np.repeat(np.cumsum(count) - count, count)
        return index, pages[begin[index] + inside]


SKETCH = "sketch.npy"  # beside the record of `pairs knowledge_pairs`: uint64, ascending
SIZE = 4096  # hashes: an overlap of half the pairs is then told to 2 % of them


def sketch(pairs: Iterable[tuple[str, str]], before: np.ndarray | None = None) -> np.ndarray:
    """uint64 [at most SIZE], ascending: the smallest hashes of pairs of texts, and of those that came `before`.

    The smallest hashes of two sets together are a random sample of their union, and how many of them both have is the
    share of the union that both have (bottom-k sketches; Cohen and Kaplan 2007). Up to SIZE pairs the count is exact.
    Which side is the query plays no part, nor do case and white space.
    """
    hashes = np.fromiter((_hash(*pair) for pair in pairs), np.uint64)
    return np.unique(hashes if before is None else np.concatenate([before, hashes]))[:SIZE]


def _hash(*texts: str) -> int:
    text = "\n".join(sorted(text.lower().replace(" ", "") for text in texts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def read_sketch(record: Path) -> np.ndarray:
    """The sketch beside a record of `pairs knowledge_pairs`."""
    with reading(record.parent / SKETCH, "array", "mine these pairs again"):
        return np.load(record.parent / SKETCH, allow_pickle=False)


def shared(sketches: Sequence[np.ndarray], sizes: Sequence[int]) -> int:
    """How many pairs two methods share, of their sketches and numbers of pairs: about, where they have over SIZE."""
    both = np.intersect1d(*sketches, assume_unique=True)
    if all(len(hashes) < SIZE for hashes in sketches):
        return len(both)
    union = np.union1d(*sketches)[:SIZE]
    share = np.isin(union, both).sum() / len(union)
    return round(share / (1 + share) * sum(sizes))
