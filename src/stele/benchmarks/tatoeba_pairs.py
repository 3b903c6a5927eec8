r"""Tatoeba without English (CCP, table 2): find a sentence's translation among 1,000, in pairs from the raw collection.

CCP (section 4.2) extracts 1,000 pairs of sentences "following" LASER's test set (Artetxe and Schwenk 2019), and
publishes neither pairs nor date. Here a pair of sentences is a direct link of Tatoeba's exports. As LASER's 88,877
pairs suggest, the following are left out:

- sentences with "@" or "http",
- pairs without a side of three words (in LASER's pairs the English side has three, the other may have fewer); pairs
  with a language without spaces between words are exempt,
- pairs with a sentence that an earlier pair has, in the order of the two ids: each text occurs once on its side.

Of the rest, the 1,000 pairs are taken whose ids have the lowest hash with the seed, in the order of the ids; a later
export hardly changes this choice. If there are fewer, all are taken. Codes are those of LASER's files, so `no` is
Bokmål (nob) and `zh` Mandarin (cmn).

Tatoeba's weekly exports are sentences.csv (id, language, text) and links.csv (two ids), tab-separated, no header. MySQL
writes them (`SELECT ... INTO OUTFILE`; Tatoeba/tatoeba2, docs/database/scripts/weekly_exports.sql): `\N` is no value,
and a backslash precedes a tab, line end or backslash in a text. Nearly all links are in the file in both directions
(issue 2579 there). A link may be dead: sentences without a licence, or marked as wrong, are not exported (issue 351).
With some 13 million sentences and 25 million links, both files are read once, in their order. Memory holds six bytes
for each id, the texts of the requested languages, and the links between them.
"""

from __future__ import annotations

import hashlib
import logging
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele import catalogue
from stele.benchmarks._files import folder_of, located, name_in_files
from stele.benchmarks.reader import RetrievalReader, pair_query_sets, sides
from stele.benchmarks.tatoeba import line_judgments, line_passages, line_queries
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError
from stele.files.reading import reading

logger = logging.getLogger(__name__)

DATASET = "tatoeba_exports"
LANGUAGE_FACTS = ("spaces", "tatoeba")
SIZE = 1_000  # pairs of sentences
SEED = 0
WORDS = 3
ADDRESSES = ("@", "http")  # the same in every language

Texts = list[tuple[str, str]]  # sentences of the first and of the second language that translate each other


class TatoebaPairs(RetrievalReader):
    NORMALIZE = True  # cosine, whatever the encoder's own similarity
    SIMILARITY = "cosine"  # for given embeddings

    def query_sets(self, languages: Sequence[str]) -> list[QuerySet]:
        """Makes both directions of every pair; each side of a pair is its own collection."""
        both = pair_query_sets(languages)
        return [each._replace(collection=_collection(each.language, each.collection)) for each in both]

    def queries(self, data: Data, query_set: QuerySet) -> Iterator[Query]:
        """Yields the sentences of the query side; a query's id is its number from 0."""
        return line_queries(_side(data, query_set.language, query_set.name.partition("-")[0]))

    def passages(self, data: Data, collection: str) -> Iterator[Passage]:
        """Yields the sentences of one side of a pair."""
        language, _, pair = collection.partition("-of-")
        return line_passages(_side(data, pair, language))

    def query_collection(self, query_set: QuerySet) -> str:
        return _collection(query_set.language, query_set.name.partition("-")[0])

    def judgments(self, data: Data, query_set: QuerySet) -> Judgments:
        """Maps a sentence's number -> {id of its translation: 1}."""
        return line_judgments(len(_texts(data, query_set.language)))


def _collection(pair: str, language: str) -> str:
    return f"{language}-of-{pair}"


def _side(data: Data, pair: str, language: str) -> list[str]:
    return [texts[sides(pair).index(language)] for texts in _texts(data, pair)]


def _texts(data: Data, pair: str) -> Texts:
    """Chosen sentences of a pair of languages. Raises SteleError if there are none."""
    folder = folder_of(data, DATASET, pair)
    files = [located(folder, f"{name}.csv") for name in ("sentences", "links")]
    known = catalogue.entry(Benchmark, "tatoeba_pairs").languages
    stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in files)
    chosen = _of_files(stamps, tuple(dict.fromkeys([*known, pair])))[pair]  # all pairs in one pass: the files are large
    if not chosen:
        codes = " and ".join(name_in_files(language, "tatoeba") for language in sides(pair))
        raise SteleError(f"{files[1]}: {pair}: no linked sentences in {codes} pass the filters; leave the pair out")
    return chosen


@lru_cache(maxsize=2)
def _of_files(files: tuple[tuple[Path, int, int], ...], pairs: tuple[str, ...]) -> dict[str, Texts]:
    """Chosen sentences of all `pairs`, from one pass over each of the two `files` (path, time, size)."""
    languages = list(dict.fromkeys(language for pair in pairs for language in sides(pair)))
    (path, *_), (links, *_) = files
    sentences = read_sentences(path, [name_in_files(language, "tatoeba") for language in languages])
    places = [tuple(map(languages.index, sides(pair))) for pair in pairs]
    linked, counts = read_links(links, sentences, places)
    logger.info("%s: %d links, %d of them to no sentence", links, counts["links"], counts["dead"])
    chosen, known = {}, catalogue.entries(Language)
    for pair, links_of_pair in zip(pairs, linked, strict=True):
        unspaced = any(code in known and not known[code].spaces for code in sides(pair))
        fitting = list(fit(sentences, links_of_pair.tolist(), unspaced))
        chosen[pair] = [texts for _, texts in drawn(fitting, pair)]
        if len(fitting) < SIZE:
            logger.info("%s: %d pairs of sentences, fewer than %d", pair, len(fitting), SIZE)
    return chosen


def fit(
    sentences: Sentences, links: Iterable[tuple[int, int]], unspaced: bool
) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
    """Yields (ids, texts) of the links that are not left out, in order; each text occurs once on its side."""
    seen: tuple[set[str], set[str]] = (set(), set())
    for first, second in links:
        texts = sentences.text_of(first), sentences.text_of(second)
        if not all(texts) or any(part in text for part in ADDRESSES for text in texts):
            continue
        if not unspaced and max(len(text.split()) for text in texts) < WORDS:
            continue
        if texts[0] not in seen[0] and texts[1] not in seen[1]:
            seen[0].add(texts[0])
            seen[1].add(texts[1])
            yield (first, second), texts


def drawn(fitting: Sequence[tuple[tuple[int, int], tuple[str, str]]], pair: str) -> list:
    """Draws at most SIZE of the sentence pairs (ids, texts), by a hash of their ids; keeps their order."""

    def draw(place: int) -> bytes:
        first, second = fitting[place][0]
        return hashlib.blake2b(f"{SEED} {pair} {first} {second}".encode(), digest_size=16).digest()

    return [fitting[place] for place in sorted(sorted(range(len(fitting)), key=draw)[:SIZE])]


OTHER, NONE = -1, -2  # a sentence in a language that is not requested; an id without a sentence
LARGEST = 1 << 27  # largest id, ten times today's; it bounds the memory
NO_TEXT = rb"\N"
DEAD = 0.25  # a larger share of dead links means that the files are of different weeks, or that one is cut short
BLOCK = 1 << 24  # bytes of links read at a time
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)


class Sentences(NamedTuple):
    """Sentences of an export by their ids, which ascend from 1 with few gaps.

    language  int16 [largest id + 1]: index of a sentence's language among the requested ones, OTHER or NONE
    text      int32 [largest id + 1]: index of a sentence's text in `ends`, if its language is requested
    ends      int64 [m]: end of each text in `texts`, the concatenated raw texts of the file
    """

    path: Path
    language: np.ndarray
    text: np.ndarray
    ends: np.ndarray
    texts: bytearray

    def languages(self, ids: np.ndarray) -> np.ndarray:
        """Language indices of sentence ids [n], int16 [n], as in `language`; NONE for an id without a sentence."""
        known = (ids >= 0) & (ids < len(self.language))
        return np.where(known, self.language[np.where(known, ids, 0)], NONE)

    def text_of(self, number: int) -> str:
        """Text of an id without surrounding white space, "" for no value. Raises SteleError if it is not UTF-8."""
        place = int(self.text[number])
        raw = bytes(self.texts[self.ends[place - 1] if place else 0 : self.ends[place]])
        if raw == NO_TEXT:
            return ""
        with reading(lambda: f"{self.path}, sentence {number}"):
            return (_ESCAPED.sub(rb"\1", raw) if b"\\" in raw else raw).decode("utf-8").strip()


def read_sentences(path: Path, codes: Sequence[str]) -> Sentences:
    """Reads sentences.csv, with texts of the languages `codes` (ISO 639-3) only. Raises SteleError for bad lines."""
    places = {code.encode(): place for place, code in enumerate(codes)}
    ids, languages, texts, ends = array("q"), array("h"), bytearray(), array("q")
    for number, line in _lines(path):
        fields = line.split(b"\t", 2)
        if len(fields) != 3 or not fields[0].isdigit() or not 0 < (sentence_id := int(fields[0][:18])) < LARGEST:
            where = f"{path}, line {number}"
            raise SteleError(f"{where}: want id, language and text with tabs, found {line[:60]!r}; get it again")
        ids.append(sentence_id)
        languages.append(place := places.get(fields[1], OTHER))
        if place != OTHER:
            texts += fields[2]
            ends.append(len(texts))
    return _by_id(path, np.array(ids), np.array(languages), np.array(ends), texts)


def _by_id(path: Path, ids: np.ndarray, languages: np.ndarray, ends: np.ndarray, texts: bytearray) -> Sentences:
    """Indexes the sentences by id, given in the order of the file. Raises SteleError for a repeated id."""
    size = int(ids.max(initial=0)) + 1
    line = np.zeros(size, np.int32)
    line[ids] = order = np.arange(len(ids), dtype=np.int32)
    if len(again := ids[line[ids] != order]):
        raise SteleError(f"{path}: sentence {again[0]} appears twice; get it again")
    language, text = np.full(size, NONE, np.int16), line
    language[ids], text[ids] = languages, np.cumsum(languages != OTHER, dtype=np.int32) - 1
    return Sentences(path, language, text, ends, texts)


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
                linked[place].append(np.stack([ends[first][at], ends[second][at]], axis=1))
    if dead > DEAD * links:
        raise SteleError(
            f"{path}: of {links:,} links {dead:,} lead to no sentence of {sentences.path.name}; one of the two is cut "
            "short, or they are of different weeks: get both again"
        )
    none = np.empty((0, 2), np.int64)
    ids = [np.unique(np.concatenate([none, *blocks]), axis=0) for blocks in linked]
    return ids, {"links": links, "dead": dead}


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yields (line number from 1, line without its end); a line ends at a line feed without a backslash before it."""
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
