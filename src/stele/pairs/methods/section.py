"""Section pairs: sections of one entity's pages in two languages whose headings mean the same (Yu et al., section 4.1).

The heading of a section is the nearest one before its text, of any level; the lead section has no heading (""). The
section's vector is the mean of the aligned vectors of its heading's terms without stop words. Two sections match if
their cosine is above `threshold`. Each section gets at most one match: the highest cosine goes first; ties go to the
section that comes first in the first language's page, then in the second's. A match stays if both of its sections have
at least `least_sentences` sentences.

This method draws nothing: training draws the query's side, its sentence and the negatives anew in each pass, from a
`SectionStore` (`training/section_store.py`).
"""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from stele.encoders.word_vectors import WordVectors
from stele.pairs.mining.knowledge import Knowledge, pack
from stele.recipes.mining import SectionRecipe
from stele.training.store import ranges


class Span(NamedTuple):
    """A section of a page: its heading, and the range [begin, end) of its sentences."""

    heading: str
    begin: int
    end: int


def spans(headings: Sequence[str], begins: Sequence[int], size: int) -> list[Span]:
    """Splits a page of `size` sentences into its sections, in reading order; `begins` ascend and may repeat.

    >>> spans(["Life", "Early life", "Work"], [2, 2, 5], 6)
    [Span(heading='', begin=0, end=2), Span(heading='Early life', begin=2, end=5), Span(heading='Work', begin=5, end=6)]
    """
    nearest = {0: "", **dict(zip(begins, headings, strict=True))}  # of headings at the same sentence the last
    return [Span(nearest[begin], begin, end) for begin, end in pairwise([*sorted(nearest), size])]


def terms(heading: str, stop_words: frozenset[str]) -> list[str]:
    """Splits a heading into terms as fastText's vocabulary has them: runs of letters and digits in lower case.

    >>> terms("L'Histoire de la France (1789)", frozenset({"l", "de", "la"}))
    ['histoire', 'france', '1789']
    """
    import regex

    # unlike here, \w of the module re does not match vowel signs
    words = regex.findall(r"\w+", unicodedata.normalize("NFKC", heading).lower())
    return [word for word in words if word not in stop_words]


class Headings(NamedTuple):
    """The sections with a heading, for some pages of one language.

    page      int32 [sections], ascending
    place     int32 [sections]: position among the page's sections, its lead (if it has one) included
    size      int32 [sections]: number of sentences
    heading   int32 [sections]: index into `texts`
    texts     the distinct headings
    """

    page: np.ndarray
    place: np.ndarray
    size: np.ndarray
    heading: np.ndarray
    texts: list[str]


def collect(pages: Iterable[tuple[int, list[Span]]]) -> Headings:
    """Collects the sections that have a heading; the pages must come in ascending order."""
    rows = array("i")
    numbers: dict[str, int] = {}
    for page, sections in pages:
        for place, (heading, begin, end) in enumerate(sections):
            if heading:
                rows.extend((page, place, end - begin, numbers.setdefault(heading, len(numbers))))
    columns = np.array(rows, np.int32).reshape(-1, 4).T
    return Headings(*columns, list(numbers))


class HeadingVectors:
    """Heading vectors: means of the vectors of the known terms, scaled to length 1 (Yu et al., section 4.1)."""

    def __init__(self, terms_of: Sequence[Sequence[str]], words: WordVectors) -> None:
        known: Mapping[str, int] = words.words
        rows = [[known[term] for term in heading if term in known] for heading in terms_of]
        self._lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        self._begins = np.cumsum(self._lengths) - self._lengths
        self._rows = np.fromiter((row for heading in rows for row in heading), np.int64, int(self._lengths.sum()))
        self._vectors = words.vectors
        self.known = self._lengths > 0

    def of(self, headings: np.ndarray) -> np.ndarray:
        """Vectors of headings that have a known term, float64 [n, width]; zeros if their terms cancel out."""
        begins, lengths = self._begins[headings], self._lengths[headings]
        sums = self._vectors[self._rows[begins]].astype(np.float64)
        for place in range(1, lengths.max(initial=1)):
            longer = np.flatnonzero(lengths > place)
            sums[longer] += self._vectors[self._rows[begins[longer] + place]]
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)


LANGUAGES = 2  # in a part
ENTITIES = 1 << 13  # entities aligned at a time
COMPARED = 1 << 9  # heading pairs compared at a time: their vectors of 300 numbers stay in the processor's cache
DIGITS = 6  # decimals to which cosines are rounded before they are compared: the vector files have four


class Matches(NamedTuple):
    """Matched sections: packed segments (`pack`), uint64 [n] a side, and their headings' cosines, float64 [n]."""

    first: np.ndarray
    second: np.ndarray
    similarity: np.ndarray


class Sections(NamedTuple):
    """The sections of one language that have a heading, and the vectors of their headings."""

    headings: Headings
    vectors: HeadingVectors


def matches(
    bases: Sequence[Knowledge], sides: Sequence[Sections], recipe: SectionRecipe, dropped: Counter[str]
) -> Iterator[Matches]:
    """Yields matched sections of the entities with pages in both languages; counts matches that are too short."""
    first, second = bases
    shared = np.intersect1d(first.by_entity[0], second.by_entity[0])
    for begin in range(0, len(shared), ENTITIES):
        entities = shared[begin : begin + ENTITIES]
        pairs = _pairs(first, second, entities, sides)
        similarity = similarities(pairs, sides)
        above = similarity > recipe.threshold
        left, right = (rows[above] for rows in pairs)
        chosen = one_to_one(left, right, similarity[above])
        left, right, similarity = left[chosen], right[chosen], similarity[above][chosen]
        sizes = [side.headings.size[rows] for side, rows in zip(sides, (left, right), strict=True)]
        long = np.minimum(*sizes) >= recipe.least_sentences
        dropped["short"] += int((~long).sum())
        packed = (
            pack(number, side.headings.page[rows[long]], side.headings.place[rows[long]])
            for number, (side, rows) in enumerate(zip(sides, (left, right), strict=True))
        )
        yield Matches(*packed, similarity[long])


def _pairs(
    first: Knowledge, second: Knowledge, entities: np.ndarray, sides: Sequence[Sections]
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs all sections of one entity whose headings have a known term; two arrays of rows, one a language."""
    of_each = []
    for base, (headings, vectors) in zip((first, second), sides, strict=True):
        entity, pages = base.pages_of(entities)
        begin, end = (np.searchsorted(headings.page, pages, side=side) for side in ("left", "right"))
        rows = ranges(begin, end - begin)
        known = vectors.known[headings.heading[rows]]
        of_each.append((np.repeat(entity, end - begin)[known], rows[known]))
    (entity, rows), (other_entity, other_rows) = of_each
    begin, end = (np.searchsorted(other_entity, entity, side=side) for side in ("left", "right"))
    return np.repeat(rows, end - begin), other_rows[ranges(begin, end - begin)]


def similarities(pairs: tuple[np.ndarray, np.ndarray], sides: Sequence[Sections]) -> np.ndarray:
    """Cosines of the headings of section pairs, float64 [n]; each pair of distinct headings is compared once."""
    units, places = [], []
    for (headings, vectors), rows in zip(sides, pairs, strict=True):
        numbers, place = _distinct(headings.heading[rows])
        units.append(vectors.of(numbers))
        places.append(place)
    several = np.int64(max(len(units[1]), 1))  # the pairs' numbers need 64 bits
    both, index = _distinct(places[0] * several + places[1])
    cosines = np.zeros(len(both))
    for begin in range(0, len(both), COMPARED):
        left, right = np.divmod(both[begin : begin + COMPARED], several)
        cosines[begin : begin + COMPARED] = np.einsum("ij,ij->i", units[0][left], units[1][right])
    return cosines.round(DIGITS)[index]


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the distinct values, in the order of their first places, and the index of each value among them [n]."""
    from pyarrow import array

    encoded = array(values).dictionary_encode()  # hashes, where np.unique would sort
    return encoded.dictionary.to_numpy(), encoded.indices.to_numpy()


def one_to_one(left: np.ndarray, right: np.ndarray, similarity: np.ndarray) -> np.ndarray:
    """Chooses pairs greedily by similarity, each row in one pair at most. Returns the indices, int64 [chosen].

    Ties go to the smaller left row, then to the smaller right row. A pair that is the best remaining one for both of
    its rows is chosen whatever is chosen before it, so each round takes all such pairs at once.
    """
    waiting = np.lexsort((right, left, -similarity))
    chosen = [np.zeros(0, np.int64)]
    while len(waiting):
        best = [np.unique(rows[waiting], return_index=True)[1] for rows in (left, right)]
        best_pairs = waiting[np.intersect1d(*best, assume_unique=True)]
        chosen.append(best_pairs)
        free = ~np.isin(left[waiting], left[best_pairs]) & ~np.isin(right[waiting], right[best_pairs])
        waiting = waiting[free]
    return np.sort(np.concatenate(chosen))
