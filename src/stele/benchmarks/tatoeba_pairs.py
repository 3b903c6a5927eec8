"""Tatoeba without English (CCP, table 2): find a sentence's translation among 1,000, in pairs from the raw collection.

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
"""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from stele import catalogue
from stele.benchmarks._files import folder_of, located, name_in_files
from stele.benchmarks._tatoeba_exports import Sentences, read_links, read_sentences
from stele.benchmarks.reader import RetrievalReader, pair_query_sets, sides
from stele.benchmarks.tatoeba import line_judgments, line_passages, line_queries
from stele.benchmarks.types import Data, Judgments, Passage, Query, QuerySet
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError

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
        fitting = list(fit(sentences, links_of_pair, unspaced))
        chosen[pair] = [texts for _, texts in drawn(fitting, pair)]
        if len(fitting) < SIZE:
            logger.info("%s: %d pairs of sentences, fewer than %d", pair, len(fitting), SIZE)
    return chosen


def fit(sentences: Sentences, links: np.ndarray, unspaced: bool) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
    """Yields (ids, texts) of the links (ids [k, 2]) that are not left out, in order; each text once on its side."""
    seen: tuple[set[str], set[str]] = (set(), set())
    texts_of_links = zip(*map(sentences.texts_of, links.T), strict=True)
    for (first, second), texts in zip(links.tolist(), texts_of_links, strict=True):
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
