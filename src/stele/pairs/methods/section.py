"""Section pairs: sections of one entity's pages in two languages whose headings mean the same (Yu et al., section 4.1).

A section's vector is the mean of the aligned vectors of its heading's terms, stop words left out. Two sections match
where their cosine is above `threshold`, each with one at most: the highest first, of equal ones that of the earlier
section in the first language's page, then in the second's. Of the matches, those stay whose sections have
`least_sentences` sentences both.

What training reads of a part ("de-en"; `training/section_store.py` has the arrays and the class `SectionStore`):

    store.pairs                        int64 [pairs, 2]: numbers of two matched sections, column 0 of the first language
                                       (side 0, "de"), column 1 of the second (side 1, "en"); len(store) is how many
                                       pairs there are: what a sampler draws
    store.sections                     a `Store` of all sections of all pages that have a pair: store.sections[number]
                                       is the list of a section's sentences, uint32 token ids, no special ones, uncut
    store.of_page(numbers)             (begin, end) of the numbers of the page's sections: all but the section itself
                                       are its hard negatives, T = end - begin - 1 (as the released code counts them)
    store.of_language(side)            (begin, end) of the numbers of a language's sections: the random negatives
    store.sentence_counts(numbers)     int64 [n]
    store.sentences(numbers, places)   Flat: one sentence of each section (a query)
    store.documents(numbers, most)     Flat: the first `most` tokens of each section (a document or a negative)

Nothing is drawn here: which side asks, the sentence, the negative are drawn anew in each pass, in training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from stele.pairs.mining.headings import Headings, HeadingVectors
from stele.pairs.mining.knowledge import Knowledge, pack
from stele.recipes.mining import SectionRecipe
from stele.training.store import ranges

LANGUAGES = 2  # of a part
ENTITIES = 1 << 13  # aligned at a time
COMPARED = 1 << 12  # headings compared at a time: their vectors of 300 numbers stay near the processor
DIGITS = 6  # cosines that agree so far are equal: the files' own numbers have four


class Matches(NamedTuple):
    """Matched sections: two arrays uint64 [n] of packed segments (`pack`), and the cosines of their headings."""

    first: np.ndarray
    second: np.ndarray
    similarity: np.ndarray


class Sections(NamedTuple):
    """The sections with a heading of one language's pages, and the vectors of the headings."""

    headings: Headings
    vectors: HeadingVectors


def matches(
    bases: Sequence[Knowledge], sides: Sequence[Sections], recipe: SectionRecipe, dropped: Counter[str]
) -> Iterator[Matches]:
    """The matched sections of all entities with a page in both languages; counts those that are too short."""
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
    """Every two sections of one entity that have a heading with a known term, by their rows in each language."""
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
    """float64 [n]: the cosines of the headings of pairs of sections; two headings are compared once."""
    units, places = [], []
    for (headings, vectors), rows in zip(sides, pairs, strict=True):
        numbers, place = np.unique(headings.heading[rows], return_inverse=True)
        units.append(vectors.of(numbers))
        places.append(place)
    several = max(len(units[1]), 1)
    both, index = np.unique(places[0] * several + places[1], return_inverse=True)
    cosines = np.zeros(len(both))
    for begin in range(0, len(both), COMPARED):
        left, right = np.divmod(both[begin : begin + COMPARED], several)
        cosines[begin : begin + COMPARED] = np.einsum("ij,ij->i", units[0][left], units[1][right])
    return cosines.round(DIGITS)[index]


def one_to_one(left: np.ndarray, right: np.ndarray, similarity: np.ndarray) -> np.ndarray:
    """Which of some pairs of rows stay when the highest is taken first and no row stands in two, int64 [chosen].

    Of equal ones the smaller left row goes first, then the smaller right one. A pair that is the best left for both of
    its rows would be taken whatever else is taken before it, so all such are taken at once, again and again.
    """
    waiting = np.lexsort((right, left, -similarity))
    chosen = [np.zeros(0, np.int64)]
    while len(waiting):
        best = [np.unique(rows[waiting], return_index=True)[1] for rows in (left, right)]
        taken = waiting[np.intersect1d(*best, assume_unique=True)]
        chosen.append(taken)
        free = ~np.isin(left[waiting], left[taken]) & ~np.isin(right[waiting], right[taken])
        waiting = waiting[free]
    return np.sort(np.concatenate(chosen))
