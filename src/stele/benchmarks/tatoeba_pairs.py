"""Tatoeba without English (CCP, table 2): find a sentence's translation among 1,000, in pairs from the raw collection.

CCP (section 4.2) extracts 1,000 pairs of sentences "following" LASER's test set (Artetxe and Schwenk 2019), and
publishes neither pairs nor date. Here a pair of sentences is a direct link of Tatoeba's exports. Left out are, as
LASER's 88,877 pairs show it,

- sentences with "@" or "http",
- pairs without a side of three words (of LASER's pairs the English side has them, the other may be shorter); where a
  language puts no spaces between words, none are counted,
- pairs with a sentence that an earlier one has, in the order of the two ids: each text stands once on its side.

Of the rest the 1,000 are taken whose ids have the lowest hash with the seed, which a later week's export hardly
changes, in the order of the ids; where there are fewer, all. Codes are those of LASER's files, so `no` is Bokmål (nob)
and `zh` Mandarin (cmn).
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from stele import catalogue
from stele.benchmarks import _pairs
from stele.benchmarks._files import folder_of, located
from stele.benchmarks._tatoeba_exports import Sentences, read_links, read_sentences
from stele.benchmarks.tatoeba import file_code
from stele.benchmarks.types import Data, Passage, Query, QuerySet
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError

logger = logging.getLogger(__name__)

DATASET = "tatoeba_exports"
AVERAGE = "macro"  # mean over pairs
NORMALIZE = True  # cosine, whatever the encoder's own habit
SIMILARITY = "cosine"  # of embeddings that are given
SIZE = 1_000  # pairs of sentences
SEED = 0
WORDS = 3
ADDRESSES = ("@", "http")  # no language's own

Texts = list[tuple[str, str]]  # sentences of the first and of the second language that translate each other


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """Both directions of every pair; each side of a pair is its own collection."""
    both = _pairs.query_sets(languages)
    return [each._replace(collection=_collection(each.language, each.collection)) for each in both]


def queries(data: Data, query_set: QuerySet) -> Iterator[Query]:
    """The sentences of the searching side; a query's id is its number from 0."""
    return _pairs.queries(_side(data, query_set.language, query_set.name.partition("-")[0]))


def passages(data: Data, collection: str) -> Iterator[Passage]:
    """The sentences of one side of a pair."""
    language, _, pair = collection.partition("-of-")
    return _pairs.passages(_side(data, pair, language))


def query_collection(query_set: QuerySet) -> str:
    """The collection whose passages are the queries, one for one in the same order."""
    return _collection(query_set.language, query_set.name.partition("-")[0])


def judgments(data: Data, query_set: QuerySet) -> dict[str, dict[str, int]]:
    """Number of a sentence -> {id of its translation: 1}."""
    return _pairs.judgments(len(_texts(data, query_set.language)))


def _collection(pair: str, language: str) -> str:
    return f"{language}-of-{pair}"


def _side(data: Data, pair: str, language: str) -> list[str]:
    return [texts[_pairs.sides(pair).index(language)] for texts in _texts(data, pair)]


def _texts(data: Data, pair: str) -> Texts:
    """The sentences of a pair; none is an error, fewer than 1,000 are said."""
    folder = folder_of(data, DATASET, pair)
    files = [located(folder, f"{name}.csv") for name in ("sentences", "links")]
    known = catalogue.entry(Benchmark, "tatoeba_pairs").languages
    stamps = tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in files)
    found = _of_files(stamps, tuple(dict.fromkeys([*known, pair])))[pair]  # all at once: the files are large
    if not found:
        codes = " and ".join(map(file_code, _pairs.sides(pair)))
        raise SteleError(f"{files[1]}: {pair}: no two sentences in {codes} are linked and fit; leave the pair out")
    return found


@lru_cache(maxsize=2)
def _of_files(files: tuple[tuple[Path, int, int], ...], pairs: tuple[str, ...]) -> dict[str, Texts]:
    """The chosen sentences of all `pairs`, in one pass over each of the two files (path, time, size)."""
    languages = list(dict.fromkeys(language for pair in pairs for language in _pairs.sides(pair)))
    (path, *_), (links, *_) = files
    sentences = read_sentences(path, [file_code(language) for language in languages])
    places = [tuple(map(languages.index, _pairs.sides(pair))) for pair in pairs]
    linked, counts = read_links(links, sentences, places)
    logger.info("%s: %d links, %d of them to no sentence", links, counts["links"], counts["dead"])
    found = {}
    for pair, own in zip(pairs, linked, strict=True):
        fitting = list(fit(sentences, own.tolist(), any(map(_unspaced, _pairs.sides(pair)))))
        found[pair] = [texts for _, texts in drawn(fitting, pair)]
        if len(fitting) < SIZE:
            logger.info("%s: %d pairs of sentences, fewer than %d", pair, len(fitting), SIZE)
    return found


def fit(
    sentences: Sentences, links: Iterable[tuple[int, int]], unspaced: bool
) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
    """(ids, texts) of the links that are not left out, in their order; each text once on its side."""
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
    """At most SIZE of the pairs (ids, texts) of sentences, in their order."""

    def draw(place: int) -> bytes:
        first, second = fitting[place][0]
        return hashlib.blake2b(f"{SEED} {pair} {first} {second}".encode(), digest_size=16).digest()

    return [fitting[place] for place in sorted(sorted(range(len(fitting)), key=draw)[:SIZE])]


def _unspaced(language: str) -> bool:
    """Whether a language puts no spaces between its words."""
    known = catalogue.entries(Language)
    return language in known and not known[language].spaces
