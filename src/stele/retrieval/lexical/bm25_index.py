"""Where the terms of some queries occur in a collection of passages: all that BM25 needs to know of the collection, on
disk.

A score depends on the passages that hold one of the query's terms, their lengths, and counts over the collection; so
only the terms of the queries at hand are kept (of a passage's other words, their number). That is a twentieth of a full
index, and exact. The collection is cut into blocks of passages, a file each, written as the passages come: a killed job
goes on after the last whole one, and memory is bounded by the block and not by the collection.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.files.atomic import atomic_file, atomic_write_json
from stele.files.reading import read_state

BLOCK = 1 << 18  # passages of a block: their scores, 2 MB of float64, stay in a core's cache

Terms = Callable[[str], list[int]]  # text -> the number of each of its terms, -1 for one that no query has


class Block(NamedTuple):
    """Occurrences in some passages, by term: those of term t are [indptr[t], indptr[t + 1]).

    indptr int64 [terms + 1]; passages int32 [n], rows of the block, ascending within a term; counts int32 [n]: how
    often the term occurs there; lengths int32 [rows]: terms of a passage; ids bytes [rows].
    """

    indptr: np.ndarray
    passages: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray
    ids: np.ndarray


class Statistics(NamedTuple):
    """Of a whole collection: passages with a term, their mean length, and in how many each term occurs [terms]."""

    passages: int
    length: float
    frequencies: np.ndarray


def write_index(folder: Path, items: Iterable[tuple[str, str]], terms: Terms, number: int, rows: int = BLOCK) -> int:
    """Writes the blocks of (id, text) items that are not there yet; returns the number of passages.

    `number`: how many terms the queries have. Raises SteleError for an empty collection and for an id that is there
    twice.
    """
    folder.mkdir(parents=True, exist_ok=True)
    finished = folder / "passages.json"
    if (passages := read_state(finished)) is not None:
        return passages
    done = 0
    stream = iter(items)
    while (path := _path(folder, done)).exists():
        for _ in islice(stream, rows):
            pass
        done += 1
    total = done * rows
    while some := list(islice(stream, rows)):
        block = make_block(some, terms, number)
        with atomic_file(path, "wb") as handle:
            np.savez(handle, **block._asdict())
        done, total = done + 1, total + len(some)
        path = _path(folder, done)
    if done:  # the last block may be short
        total = (done - 1) * rows + len(next(_read(folder, "lengths", start=done - 1)))
    if not total:
        raise SteleError(f"collection {folder.name}: there is no passage in it")
    _refuse_twice(folder)
    atomic_write_json(finished, total)
    return total


def make_block(items: Iterable[tuple[str, str]], terms: Terms, number: int) -> Block:
    """The block of some (id, text) items."""
    occurrences, lengths, ids = array("i"), array("i"), []
    for name, text in items:
        of_text = terms(text)
        occurrences.extend(of_text)
        lengths.append(len(of_text))
        ids.append(name.encode("utf-8"))
    of_passage = np.frombuffer(lengths, np.int32) if lengths else np.empty(0, np.int32)
    term = np.frombuffer(occurrences, np.int32) if occurrences else np.empty(0, np.int32)
    passage = np.repeat(np.arange(len(ids), dtype=np.int64), of_passage)[term >= 0]
    places, counts = np.unique(term[term >= 0] * np.int64(len(ids)) + passage, return_counts=True)
    indptr = np.searchsorted(places, np.arange(number + 1, dtype=np.int64) * len(ids))
    passages = (places % len(ids)).astype(np.int32)
    return Block(indptr, passages, counts.astype(np.int32), of_passage, np.array(ids, dtype=np.bytes_))


def read_blocks(folder: Path) -> Iterator[Block]:
    """The blocks of a finished index, in the order of the passages."""
    for columns in zip(*(_read(folder, name) for name in Block._fields), strict=True):
        yield Block(*columns)


def statistics(folder: Path) -> Statistics:
    """What BM25 must know of the whole collection. As Lucene counts: a passage without a term is none."""
    lengths = [(int(np.count_nonzero(values)), int(values.sum(dtype=np.int64))) for values in _read(folder, "lengths")]
    passages, terms = (sum(column) for column in zip(*lengths, strict=True))
    frequencies = sum(np.diff(values) for values in _read(folder, "indptr"))
    return Statistics(passages, terms / passages if passages else 1.0, frequencies)


def read_ids(folder: Path) -> np.ndarray:
    """The ids of all passages, bytes [n]."""
    return np.concatenate(list(_read(folder, "ids")))


def _path(folder: Path, number: int) -> Path:
    return folder / f"block-{number:05d}.npz"


def _read(folder: Path, name: str, start: int = 0) -> Iterator[np.ndarray]:
    """One column of each block, no other being read."""
    while (path := _path(folder, start)).exists():
        with np.load(path) as columns:
            yield columns[name]
        start += 1


def _refuse_twice(folder: Path) -> None:
    ids = np.sort(read_ids(folder))
    if len(twice := ids[1:][ids[1:] == ids[:-1]]):
        raise SteleError(f"collection {folder.name}: passage {twice[0].decode()!r} is there twice")
