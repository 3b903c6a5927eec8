"""Candidates to texts: every page that is needed is read once, in the order of the corpus, memory bounded.

Candidates stand in the order of their hashes, pages in that of the corpus. The texts are therefore dealt out into
buckets of consecutive candidates on disk while the pages pass; then bucket after bucket is read.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from stele import progress
from stele.artifacts.documents import read_chosen
from stele.pairs.mining.knowledge import Candidates, unpack
from stele.pairs.mining.segments import Page
from stele.recipes.mining import KnowledgeRecipe

BUCKET = 1 << 16  # candidates of a bucket, at least
BUCKETS = 256  # open files, at most
BUFFER = 1 << 25  # characters held back before they are written
_SCHEMA = pa.schema([("row", pa.int64()), ("side", pa.int8()), ("text", pa.string())])


class Pair(NamedTuple):
    """A candidate with its texts."""

    row: int
    query: str
    passage: str


class Spool:
    """Texts by candidate and side, in buckets of consecutive candidates on disk; used as a context manager."""

    def __init__(self, folder: Path, rows: int, bucket: int = BUCKET) -> None:
        self.folder, self.rows, self.bucket = folder, rows, max(bucket, -(-rows // BUCKETS))
        self._held: list[tuple[list, list, list]] = [([], [], []) for _ in range(-(-rows // self.bucket))]
        self._writers: dict[int, pa.RecordBatchStreamWriter] = {}
        self._size = 0

    def __enter__(self) -> Spool:
        self.folder.mkdir()
        return self

    def __exit__(self, *_: object) -> None:
        for writer in self._writers.values():
            writer.close()

    def add(self, row: int, side: int, text: str) -> None:
        rows, sides, texts = self._held[row // self.bucket]
        rows.append(row)
        sides.append(side)
        texts.append(text)
        self._size += len(text)
        if self._size >= BUFFER:
            self._flush()

    def _flush(self) -> None:
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        for number, held in enumerate(self._held):
            if not held[0]:
                continue
            if number not in self._writers:
                self._writers[number] = pa.ipc.new_stream(self._path(number), _SCHEMA, options=options)
            columns = [pa.array(column, field.type) for column, field in zip(held, _SCHEMA, strict=True)]
            self._writers[number].write_batch(pa.record_batch(columns, schema=_SCHEMA))
            self._held[number] = ([], [], [])
        self._size = 0

    def _path(self, number: int) -> str:
        return str(self.folder / f"{number:04d}.arrow")

    def pairs(self) -> Iterator[tuple[int, str | None, str | None]]:
        """(candidate, query, passage) in order; None for a text that was not added."""
        self._flush()
        for writer in self._writers.values():
            writer.close()
        for number in range(len(self._held)):
            first = number * self.bucket
            texts: list[list[str | None]] = [[None] * min(self.bucket, self.rows - first) for _ in range(2)]
            if number in self._writers:
                with pa.OSFile(self._path(number)) as file:
                    for batch in pa.ipc.open_stream(file):
                        for row, side, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                            texts[side][row - first] = text
            yield from zip(range(first, first + len(texts[0])), *texts, strict=True)


def fetch(
    spool: Spool,
    language: int,
    sources: Sequence[Path],
    module: ModuleType,
    recipe: KnowledgeRecipe,
    key: int,
    drawn: Candidates,
    label: str = "",
) -> None:
    """Adds the texts of all candidates' segments of one language to the spool; `sources` are its documents."""
    pages, places, rows, sides = _wanted(drawn, language)
    numbers, begins, sizes = np.unique(pages, return_index=True, return_counts=True)
    read = (module.query, module.passage)
    shown = progress.track(read_chosen(sources, numbers), len(numbers), label, "page")
    columns = (column.tolist() for column in (numbers, begins, begins + sizes))
    for number, begin, end, (sentences, sections) in zip(*columns, shown, strict=True):
        page = Page(sentences, sections, recipe.passage_words, (key, language, number))
        of_page = (column[begin:end].tolist() for column in (rows, sides, places))
        for row, side, place in zip(*of_page, strict=True):
            if (text := read[side](page, place, recipe)) is not None:
                spool.add(row, side, text)


def _wanted(drawn: Candidates, language: int) -> tuple[np.ndarray, ...]:
    """(page, place, row, side), [n] each: the segments in one language, ascending by page."""
    parts = []
    for side, segments in enumerate(drawn):
        languages, pages, places = unpack(segments)
        rows = np.flatnonzero(languages == language)
        parts.append((pages[rows], places[rows], rows, np.full(len(rows), side, np.int8)))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return tuple(column[order] for column in columns)


def kept(
    texts: Iterable[tuple[int, str | None, str | None]], recipe: KnowledgeRecipe, dropped: Counter[str]
) -> Iterator[Pair]:
    """The pairs that stay, at most `max_pairs`; counts those dropped before it, by reason.

    Duplicates, and texts that hold one another, are told without regard to case and white space.
    """
    seen: set[int] = set()
    for row, query, passage in texts:
        if len(seen) == recipe.max_pairs:
            return
        if query is None or passage is None:
            dropped["fewer_passages"] += 1
        elif not (_has_text(query, recipe.min_characters) and _has_text(passage, recipe.min_characters)):
            dropped["near_empty"] += 1
        else:
            one, other = _bare(query), _bare(passage)
            if one in other or other in one:
                dropped["contained"] += 1
                continue
            digest = hashlib.blake2b(f"{one} {other}".encode(), digest_size=8).digest()
            if (number := int.from_bytes(digest, "little")) in seen:
                dropped["duplicates"] += 1
                continue
            seen.add(number)
            yield Pair(row, query, passage)


def _has_text(text: str, least: int) -> bool:
    """Whether a text has so many letters or digits; mostly its beginning says so."""
    return sum(map(str.isalnum, text[: 4 * least])) >= least or sum(map(str.isalnum, text)) >= least


def _bare(text: str) -> str:
    return text.lower().replace(" ", "")  # documents have no other white space
