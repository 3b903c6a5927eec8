r"""Tatoeba's weekly exports: sentences.csv (id, language, text) and links.csv (two ids), tab-separated, no header.

MySQL writes them (`SELECT ... INTO OUTFILE`; Tatoeba/tatoeba2, docs/database/scripts/weekly_exports.sql): `\N` is no
value, and a backslash stands before a tab, an end of line and a backslash of a text. A link is there in both
directions, but for a few (issue 2579 there). It may be dead: sentences without a licence, or marked as wrong, are not
exported (issue 351).

Some 13 million sentences and 25 million links: both files are read once, in their order. Kept are six bytes for each
id, the texts of the languages that are asked for, and the links between them.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.files.reading import reading

OTHER, NONE = -1, -2  # a language that is not asked for; no sentence
LARGEST = 1 << 27  # id, ten times those of today: memory is taken for so many
NO_TEXT = rb"\N"
DEAD = 0.25  # share of dead links above which the two files are not of the same week, or one is cut
BLOCK = 1 << 24  # bytes of links read at a time
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)


class Sentences(NamedTuple):
    """The sentences of an export by their ids, which ascend from 1 and leave few out.

    language  int16 [largest id + 1]: the place of its language among those asked for, OTHER or NONE
    text      int32 [largest id + 1]: where its language is asked for, the place of its text in `ends`
    ends      int64 [m]: where each text ends in `texts`, which are as they stand in the file
    """

    path: Path
    language: np.ndarray
    text: np.ndarray
    ends: np.ndarray
    texts: bytearray

    def languages(self, ids: np.ndarray) -> np.ndarray:
        """The languages of some ids, NONE where there is no sentence."""
        known = (ids >= 0) & (ids < len(self.language))
        return np.where(known, self.language[np.where(known, ids, 0)], NONE)

    def text_of(self, number: int) -> str:
        """The text of an id, without the white space around it; "" where there is none."""
        place = int(self.text[number])
        raw = bytes(self.texts[self.ends[place - 1] if place else 0 : self.ends[place]])
        if raw == NO_TEXT:
            return ""
        with reading(lambda: f"{self.path}, sentence {number}"):
            return (_ESCAPED.sub(rb"\1", raw) if b"\\" in raw else raw).decode("utf-8").strip()


def read_sentences(path: Path, codes: Sequence[str]) -> Sentences:
    """The sentences of sentences.csv; texts only of the languages with these codes (ISO 639-3)."""
    places = {code.encode(): place for place, code in enumerate(codes)}
    ids, languages, texts, ends = array("q"), array("h"), bytearray(), array("q")
    for number, line in _lines(path):
        fields = line.split(b"\t", 2)
        if len(fields) != 3 or not fields[0].isdigit() or not 0 < (own := int(fields[0][:18])) < LARGEST:
            where = f"{path}, line {number}"
            raise SteleError(f"{where}: want id, language and text between tabs, found {line[:60]!r}; get it again")
        ids.append(own)
        languages.append(place := places.get(fields[1], OTHER))
        if place != OTHER:
            texts += fields[2]
            ends.append(len(texts))
    return _by_id(path, np.array(ids), np.array(languages), np.array(ends), texts)


def _by_id(path: Path, ids: np.ndarray, languages: np.ndarray, ends: np.ndarray, texts: bytearray) -> Sentences:
    """The sentences that stand in a file in the order of `ids`, of which none may be there twice."""
    size = int(ids.max(initial=0)) + 1
    line = np.zeros(size, np.int32)
    line[ids] = order = np.arange(len(ids), dtype=np.int32)
    if len(again := ids[line[ids] != order]):
        raise SteleError(f"{path}: sentence {again[0]} is there twice; get it again")
    language, text = np.full(size, NONE, np.int16), line
    language[ids], text[ids] = languages, np.cumsum(languages != OTHER, dtype=np.int32) - 1
    return Sentences(path, language, text, ends, texts)


def read_links(
    path: Path, sentences: Sentences, pairs: Sequence[tuple[int, int]]
) -> tuple[list[np.ndarray], dict[str, int]]:
    """For each pair of languages (their places) the ids [k, 2] that are directly linked, and what was counted.

    A link is there once, whichever of its directions the file has, its first language's sentence first; they ascend.
    Counted are the `links` of the file, and the `dead` ones, of which an end is no sentence.
    """
    size = 1 + max((place for pair in pairs for place in pair), default=0)
    number = np.full((size + 2, size + 2), -1, np.int16)  # OTHER and NONE are the last ones
    for place, pair in enumerate(pairs):
        number[pair] = place
    found: list[list[np.ndarray]] = [[] for _ in pairs]
    links = dead = 0
    for ends in _links(path):
        of = [sentences.languages(ids) for ids in ends]
        links, dead = links + len(of[0]), dead + int(np.count_nonzero((of[0] == NONE) | (of[1] == NONE)))
        for first, second in ((0, 1), (1, 0)):
            own = number[of[first], of[second]]
            chosen = np.flatnonzero(own >= 0)
            for place in np.unique(own[chosen]):
                at = chosen[own[chosen] == place]
                found[place].append(np.stack([ends[first][at], ends[second][at]], axis=1))
    if dead > DEAD * links:
        raise SteleError(
            f"{path}: of {links:,} links {dead:,} lead to no sentence of {sentences.path.name}; one of the two is cut, "
            "or of another week: get both again"
        )
    none = np.empty((0, 2), np.int64)
    return [np.unique(np.concatenate([none, *own]), axis=0) for own in found], {"links": links, "dead": dead}


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields (line number from 1, line without its end): lines end at a line feed that no backslash stands before."""
    number, line, begun = 0, b"", list[bytes]()
    with reading(lambda: f"{path}, line {number}"), open(path, "rb") as handle:
        for number, line in enumerate(handle, start=1):
            if line.endswith(b"\\\n") and (len(line) - len(line[:-1].rstrip(b"\\"))) % 2 == 0:
                begun.append(line)
                continue
            yield number, (b"".join([*begun, line]) if begun else line)[:-1]
            begun.clear()
        _want_end(b"" if begun else line[-1:], f"{path}, line {number}")


def _links(path: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of links: the ids of their two ends, int64 [b] each."""
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
    """Refuses a file that does not end as each of its lines does, by its last byte."""
    if last != b"\n":
        raise SteleError(f"{where}: the file is empty or cut short, its last line has no end; get it again")
