"""Find texts that occur in documents, exactly or nearly, such as a benchmark's passages in training documents.

A text is a sequence of words in lower case without punctuation or invisible marks (in scripts without spaces: of single
characters), cut into stretches of STRETCH words that cover it. A document contains it *exactly* if it contains all
stretches in their places, *nearly* if it contains at least the share NEAR of them anywhere. A text with fewer words
than a stretch must be a sentence of the document; a text with fewer than SHORTEST words is not searched for.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import regex

from stele.files.digests import text_number

STRETCH, SHORTEST = 8, 3  # words
NEAR = 0.5
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_WORD = regex.compile(rf"[{_UNSPACED}]|[^\s\p{{P}}\p{{S}}{_UNSPACED}]+")
_UNSEEN = regex.compile(r"\p{Cf}")  # soft hyphens, zero-width spaces and joiners, marks of direction
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_word_hash = lru_cache(maxsize=1 << 18)(text_number)


class Overlap(NamedTuple):
    """A text's occurrence: the document, the share of its stretches there, and whether it occurs exactly."""

    document: str
    share: float
    exact: bool


def words_of(text: str) -> list[str]:
    """Splits a text into the words that are compared.

    >>> words_of("The Daugava's length:  1,020 km."), words_of("東京は首都")
    (['the', 'daugava', 's', 'length', '1', '020', 'km'], ['東', '京', 'は', '首', '都'])
    """
    return _WORD.findall(_UNSEEN.sub("", unicodedata.normalize("NFKC", text)).casefold())


def find_overlaps(
    texts: Iterable[str], documents: Iterable[tuple[str, Sequence[str]]]
) -> tuple[dict[int, Overlap], int]:
    """Searches documents for texts. Returns (number of a text -> its best overlap, number of too short texts).

    `documents` yields (name, sentences). Both inputs are read once; eight words of the texts take some 20 bytes.
    """
    index = _index(texts)
    best: dict[int, Overlap] = {}
    for name, sentences in documents:
        words = [words_of(sentence) for sentence in sentences]
        for number, share, exact in _in_document(index, words):
            before = best.get(number)
            if before is None or (exact, share) > (before.exact, before.share):
                best[number] = Overlap(name, share, exact)
    return best, index.too_short


class _Index(NamedTuple):
    """Index of the stretches of all texts, by ascending hash, with each one's text and first word."""

    hashes: np.ndarray  # uint64 [stretches]
    owners: np.ndarray  # int64 [stretches], number of the text
    starts: np.ndarray  # int64 [stretches], first word in the text
    sizes: dict[int, int]  # text -> number of its stretches
    short: dict[str, list[int]]  # words -> texts of fewer words than a stretch
    too_short: int


def _index(texts: Iterable[str]) -> _Index:
    parts: list[tuple[np.ndarray, int, np.ndarray]] = []
    short: dict[str, list[int]] = {}
    too_short = 0
    for number, text in enumerate(texts):
        words = words_of(text)
        if len(words) < SHORTEST:
            too_short += 1
        elif len(words) < STRETCH:
            short.setdefault(" ".join(words), []).append(number)
        else:
            last = len(words) - STRETCH
            starts = np.array(sorted({*range(0, last, STRETCH), last}))
            parts.append((_hashes(words)[starts], number, starts))
    sizes = {number: len(starts) for _, number, starts in parts}
    hashes = np.concatenate([np.empty(0, np.uint64), *(part for part, _, _ in parts)])
    owners = np.repeat(np.array([*sizes], np.int64), np.array([*sizes.values()], np.int64))
    starts = np.concatenate([np.empty(0, np.int64), *(starts for _, _, starts in parts)])
    order = np.argsort(hashes, kind="stable")
    return _Index(hashes[order], owners[order], starts[order], sizes, short, too_short)


def _in_document(index: _Index, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[int, float, bool]]:
    """Yields (text, share, exact) for the texts that a document contains exactly or nearly."""
    if index.short:
        for words in sentences:
            if SHORTEST <= len(words) < STRETCH:
                for number in index.short.get(" ".join(words), ()):
                    yield number, 1.0, True
    words = [word for sentence in sentences for word in sentence]
    if len(words) < STRETCH or not len(index.hashes):
        return
    hashes = _hashes(words)
    first, end = (np.searchsorted(index.hashes, hashes, side) for side in ("left", "right"))
    shared: dict[int, list[tuple[int, int]]] = {}  # text -> (start in the text, offset of the text in the document)
    for place in np.flatnonzero(first < end):
        for stretch in range(first[place], end[place]):
            start = int(index.starts[stretch])
            shared.setdefault(int(index.owners[stretch]), []).append((start, int(place) - start))
    for number, stretches in shared.items():
        share = len({start for start, _ in stretches}) / index.sizes[number]
        if share >= NEAR:
            in_place = Counter(moved for _, moved in stretches)
            yield number, share, max(in_place.values()) == index.sizes[number]


def _hashes(words: Sequence[str]) -> np.ndarray:
    """Hashes the stretch that begins at each word; uint64 [words - STRETCH + 1]."""
    values = np.fromiter(map(_word_hash, words), np.uint64, len(words))
    hashes = np.zeros(len(words) - STRETCH + 1, np.uint64)
    for place in range(STRETCH):
        hashes = hashes * _FACTOR + values[place : place + len(hashes)]
    return hashes
