r"""Tatoeba's weekly exports: the sentences of some languages, and the links between them.

The files are sentences.csv (id, language, text) and links.csv (two ids), tab-separated, no header. MySQL writes them
(`SELECT ... INTO OUTFILE`; Tatoeba/tatoeba2, docs/database/scripts/weekly_exports.sql): `\N` is no value, and a
backslash precedes a tab, line end or backslash in a text. Nearly all links are in the file in both directions
(issue 2579 there). A link may be dead: sentences without a licence, or marked as wrong, are not exported (issue 351).
With some 13 million sentences and 25 million links, both files are read once, in their order. Memory holds six bytes
for each id, the texts of the requested languages, and the links between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.files.reading import reading

if TYPE_CHECKING:
    import pyarrow as pa

OTHER, NONE = -1, -2  # a sentence in a language that is not requested; an id without a sentence
LARGEST = 1 << 27  # largest id, ten times today's; it bounds the memory
NO_TEXT = b"N"  # `\\N` without its backslash; a text of one letter would be no use either
DEAD = 0.25  # a larger share of dead links means that the files are of different weeks, or that one is cut short
BLOCK = 1 << 24  # bytes read at a time


class Sentences(NamedTuple):
    """Sentences of an export by their ids, which ascend from 1 with few gaps.

    language  int16 [largest id + 1]: index of a sentence's language among the requested ones, OTHER or NONE
    text      int32 [largest id + 1]: index of a sentence's text in `texts`, if its language is requested
    texts     binary [m]: the texts of the file, in UTF-8
    """

    path: Path
    language: np.ndarray
    text: np.ndarray
    texts: pa.ChunkedArray

    def languages(self, ids: np.ndarray) -> np.ndarray:
        """Language indices of sentence ids [n], int16 [n], as in `language`; NONE for an id without a sentence."""
        known = (ids >= 0) & (ids < len(self.language))
        return np.where(known, self.language[np.where(known, ids, 0)], NONE)

    def texts_of(self, ids: np.ndarray) -> list[str]:
        """Texts of ids without surrounding white space, "" for no value. Raises SteleError if one is not UTF-8."""
        texts: list[str] = []
        with reading(lambda: f"{self.path}, sentence {ids[len(texts)]}"):
            for raw in self.texts.take(self.text[ids]).to_pylist():
                texts.append("" if raw == NO_TEXT else raw.decode("utf-8").strip())
        return texts


def read_sentences(path: Path, codes: Sequence[str]) -> Sentences:
    """Reads sentences.csv, with texts of the languages `codes` (ISO 639-3) only. Raises SteleError for bad lines."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ids, languages, texts = [], [], []
    for batch in _batches(path, "id, language and text", id="int64", language="string", text="binary"):
        places = pc.index_in(batch["language"], pa.array(codes))
        ids.append(batch["id"].to_numpy())
        languages.append(places.fill_null(OTHER).to_numpy().astype(np.int16))
        texts.append(batch["text"].filter(places.is_valid()))
    numbers = np.concatenate(ids)
    if len(bad := numbers[(numbers < 1) | (numbers >= LARGEST)]):
        raise SteleError(f"{path}: found the id {bad[0]}, want one from 1 to {LARGEST}; get it again")
    return _by_id(path, numbers, np.concatenate(languages), pa.chunked_array(texts))


def _by_id(path: Path, ids: np.ndarray, languages: np.ndarray, texts: pa.ChunkedArray) -> Sentences:
    """Indexes the sentences by id, given in the order of the file. Raises SteleError for a repeated id."""
    size = int(ids.max(initial=0)) + 1
    line = np.zeros(size, np.int32)
    line[ids] = order = np.arange(len(ids), dtype=np.int32)
    if len(again := ids[line[ids] != order]):
        raise SteleError(f"{path}: sentence {again[0]} appears twice; get it again")
    language, text = np.full(size, NONE, np.int16), line
    language[ids], text[ids] = languages, np.cumsum(languages != OTHER, dtype=np.int32) - 1
    return Sentences(path, language, text, texts)


def read_links(
    path: Path, sentences: Sentences, pairs: Sequence[tuple[int, int]]
) -> tuple[list[np.ndarray], dict[str, int]]:
    """Reads the direct links of each pair of languages (given as indices). Returns (their ids, int64 [k, 2]; counts).

    Each link occurs once, whichever directions the file has, with the first language's sentence first; links ascend.
    The counts are `links` of the file, and `dead` ones, which have an end without a sentence. Raises SteleError if more
    than the share DEAD is dead.
    """
    size = 1 + max(chain.from_iterable(pairs), default=0)
    number = np.full((size + 2, size + 2), -1, np.int16)  # the last rows and columns: NONE and OTHER
    for place, pair in enumerate(pairs):
        number[pair] = place
    linked: list[list[np.ndarray]] = [[] for _ in pairs]
    links = dead = 0
    for batch in _batches(path, "two ids", first="int64", second="int64"):
        ends = batch["first"].to_numpy(), batch["second"].to_numpy()
        codes = list(map(sentences.languages, ends))
        links, dead = links + len(codes[0]), dead + int(np.count_nonzero((codes[0] == NONE) | (codes[1] == NONE)))
        for first, second in ((0, 1), (1, 0)):
            pair_number = number[codes[first], codes[second]]
            chosen = np.flatnonzero(pair_number >= 0)
            for place in np.unique(pair_number[chosen]):
                at = chosen[pair_number[chosen] == place]
                linked[place].append(ends[first][at] * LARGEST + ends[second][at])
    if dead > DEAD * links:
        raise SteleError(
            f"{path}: of {links:,} links {dead:,} lead to no sentence of {sentences.path.name}; one of the two is cut "
            "short, or they are of different weeks: get both again"
        )
    packed = [np.unique(np.concatenate([np.empty(0, np.int64), *blocks])) for blocks in linked]
    unpacked = [np.stack(np.divmod(links_of_pair, LARGEST), axis=1) for links_of_pair in packed]
    return unpacked, {"links": links, "dead": dead}


def _batches(path: Path, wanted: str, **kinds: str) -> Iterator[pa.RecordBatch]:
    """Yields blocks of an export with columns of some `kinds`. Raises SteleError for other content and a cut file."""
    import pyarrow as pa
    from pyarrow import csv

    with reading(path, "export of Tatoeba", f"want {wanted} between tabs a line: get it again"):
        with open(path, "rb") as handle:
            handle.seek(-min(1, path.stat().st_size), 2)
            if handle.read() != b"\n":
                raise SteleError(f"{path}: the file is empty or cut short, as its last line has no end; get it again")
        yield from csv.open_csv(
            path,
            csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=[*kinds]),
            csv.ParseOptions(
                delimiter="\t", quote_char=False, escape_char="\\", newlines_in_values=True, ignore_empty_lines=False
            ),
            csv.ConvertOptions(column_types=pa.schema([*kinds.items()]), null_values=[]),
        )
