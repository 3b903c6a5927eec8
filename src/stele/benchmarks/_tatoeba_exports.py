r"""Tatoeba's weekly exports: the sentences of some languages, and the links between them.

The files are sentences.csv (id, language, text) and links.csv (two ids), tab-separated, no header. MySQL writes them
(`SELECT ... INTO OUTFILE`; Tatoeba/tatoeba2, docs/database/scripts/weekly_exports.sql): `\N` is no value, and a
backslash precedes a tab, line end or backslash in a text. Nearly all links are in the file in both directions
(issue 2579 there). A link may be dead: sentences without a licence, or marked as wrong, are not exported (issue 351).
With some 13 million sentences and 25 million links, both files are read once, in their order. Memory holds six bytes
for each id, the texts of the requested languages, and the links between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.files.reading import reading

if TYPE_CHECKING:
    import pyarrow as pa

OTHER, NONE = -1, -2  # a sentence in a language that is not requested; an id without a sentence
LARGEST = 1 << 27  # largest id, ten times today's; it bounds the memory
NO_TEXT = b"\\N\n"
DEAD = 0.25  # a larger share of dead links means that the files are of different weeks, or that one is cut short
BLOCK = 1 << 24  # bytes read at a time
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_BEFORE_END = re.compile(rb"(\\+)\n")


class Sentences(NamedTuple):
    """Sentences of an export by their ids, which ascend from 1 with few gaps.

    language  int16 [largest id + 1]: index of a sentence's language among the requested ones, OTHER or NONE
    text      int32 [largest id + 1]: index of a sentence's text in `texts`, if its language is requested
    texts     binary [m]: the raw texts of the file, with their line ends
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
                value = b"" if raw == NO_TEXT else _ESCAPED.sub(rb"\1", raw) if b"\\" in raw else raw
                texts.append(value.decode("utf-8").strip())
        return texts


def read_sentences(path: Path, codes: Sequence[str]) -> Sentences:
    """Reads sentences.csv, with texts of the languages `codes` (ISO 639-3) only. Raises SteleError for bad lines."""
    import pyarrow as pa

    columns, number, rest = [], 0, b""
    with reading(lambda: f"{path}, line {number}"), open(path, "rb") as handle:
        while block := handle.read(BLOCK):
            block = rest + block
            ends = _line_ends(block)
            size = int(ends.max(initial=0))
            columns.append(_columns(block[:size], ends, codes, path, number))
            number, rest = number + block.count(b"\n", 0, size), block[size:]
    _want_end(b"\n" if columns and not rest else b"", f"{path}, line {number + bool(rest)}")
    ids, languages, texts = zip(*columns, strict=True)
    return _by_id(path, np.concatenate(ids), np.concatenate(languages), pa.chunked_array(texts))


def _line_ends(block: bytes) -> np.ndarray:
    """Where lines end, int64 [lines]: behind the line feeds without a backslash before them."""
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
    if b"\\\n" not in block:  # mostly; the search below takes longer than all the rest
        return ends
    escaped = [match.end() for match in _BEFORE_END.finditer(block) if len(match[1]) % 2]
    return ends[~np.isin(ends, escaped)]


def _columns(
    block: bytes, ends: np.ndarray, codes: Sequence[str], path: Path, number: int
) -> tuple[np.ndarray, np.ndarray, pa.BinaryArray]:
    """Ids and language indices of the lines with these ends, after `number` others, and the requested texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    begins = np.append(0, ends)[:-1]
    tabs = np.append(np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\t")), [len(block)] * 2)
    tab = np.searchsorted(tabs, begins)
    # the three columns of each line, with the bytes that end them
    bounds = np.minimum(np.stack([begins, tabs[tab] + 1, tabs[tab + 1] + 1], axis=1), ends[:, None])
    offsets = np.append(bounds, len(block)).astype(np.int32)
    cells = pa.StringArray.from_buffers(bounds.size, pa.py_buffer(offsets), pa.py_buffer(block))
    column = np.arange(0, bounds.size, 3)
    numbers = pc.ascii_rtrim(cells.take(pa.array(column)), "\t")
    good = pc.and_(pc.ascii_is_decimal(numbers), pc.less(pc.binary_length(numbers), 10))
    ids = pc.if_else(good, numbers, "0").cast(pa.int64()).to_numpy()
    if (bad := (ids == 0) | (ids >= LARGEST) | (bounds[:, 2] == ends)).any():
        line = int(np.argmax(bad))
        where, found = number + 1 + block.count(b"\n", 0, begins[line]), block[begins[line] : ends[line] - 1][:60]
        raise SteleError(f"{path}, line {where}: want id, language and text with tabs, found {found!r}; get it again")
    places = pc.index_in(cells.take(pa.array(column + 1)), pa.array([f"{code}\t" for code in codes]))
    texts = cells.take(pa.array(column + 2).filter(places.is_valid())).view(pa.binary())
    return ids, places.fill_null(OTHER).to_numpy().astype(np.int16), texts


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
    size = 1 + max((place for pair in pairs for place in pair), default=0)
    number = np.full((size + 2, size + 2), -1, np.int16)  # the last rows and columns: NONE and OTHER
    for place, pair in enumerate(pairs):
        number[pair] = place
    linked: list[list[np.ndarray]] = [[] for _ in pairs]
    links = dead = 0
    for ends in _links(path):
        codes = [sentences.languages(ids) for ids in ends]
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
    return [np.stack(np.divmod(links_of_pair, LARGEST), axis=1) for links_of_pair in packed], {
        "links": links,
        "dead": dead,
    }


def _links(path: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yields blocks of links as the ids of their two ends, int64 [b] each. Raises SteleError for other content."""
    from pyarrow import csv, int64

    with reading(path, "list of links", "want two ids between tabs a line: get it again"):
        with open(path, "rb") as handle:
            handle.seek(-min(1, path.stat().st_size), 2)
            _want_end(handle.read(1), str(path))
        reader = csv.open_csv(
            path,
            csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=["from", "to"]),
            csv.ParseOptions(delimiter="\t", quote_char=False, ignore_empty_lines=False),
            csv.ConvertOptions(column_types={"from": int64(), "to": int64()}, null_values=[]),
        )
        for batch in reader:
            yield batch.column(0).to_numpy(), batch.column(1).to_numpy()


def _want_end(last: bytes, where: str) -> None:
    """Raises SteleError if the last byte of a file is not a line end."""
    if last != b"\n":
        raise SteleError(f"{where}: the file is empty or cut short, as its last line has no end; get it again")
