"""What a step draws anew of section pairs: which section asks, its query, the negatives (Yu et al. 2021, section 4)."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from stele.errors import SteleError
from stele.training.store import Flat

EASY = 3 / 4  # to the power of the page's other sections: how probable a negative is that is no section of its page


class Sections(Protocol):
    """What is read of a store (training/section_store.py); sections have numbers, languages the sides 0 and 1."""

    pairs: np.ndarray

    def __len__(self) -> int: ...

    def of_page(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...

    def of_language(self, side: int) -> tuple[int, int]: ...

    def sentence_counts(self, numbers: np.ndarray) -> np.ndarray: ...

    def sentences(self, numbers: np.ndarray, places: np.ndarray) -> Flat: ...

    def documents(self, numbers: np.ndarray, most: int) -> Flat: ...


class Drawn(NamedTuple):
    """queries Flat of n sentences; documents int64 [n]: the numbers of their sections; sides int64 [n]: of those."""

    queries: Flat
    documents: np.ndarray
    sides: np.ndarray


def draw_pairs(store: Sections, indices: np.ndarray, rng: np.random.Generator) -> Drawn:
    """Of each pair a sentence of one section, by a coin, as the query, and the other section as its document."""
    rows, asking = np.arange(len(indices)), rng.integers(0, 2, len(indices))
    pairs = store.pairs[indices]
    sections = pairs[rows, asking]
    places = rng.integers(0, store.sentence_counts(sections))
    return Drawn(store.sentences(sections, places), pairs[rows, 1 - asking], 1 - asking)


def hard_probability(others: np.ndarray) -> np.ndarray:
    """1 - (3/4)^T for T other sections of the page: with none there is no hard negative (section 4.2.2).

    >>> hard_probability(np.array([0, 1, 2, 5])).round(4).tolist()
    [0.0, 0.25, 0.4375, 0.7627]
    """
    return 1 - EASY**others


def draw_negatives(store: Sections, drawn: Drawn, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A section that is not the document for each query [n], and whether it is another one of the document's page [n].

    T counts the page's other sections, as the released code does. The others are uniform over the language's sections
    but the document; the code may draw the document itself.
    """
    own_page = np.stack(store.of_page(drawn.documents), axis=1)
    language = np.array([store.of_language(side) for side in (0, 1)])[drawn.sides]
    if ((language[:, 1] - language[:, 0]) < 2).any():
        raise SteleError("RR: a language of one section has no negatives; give more text")
    hard = rng.random(len(drawn.documents)) < hard_probability(own_page[:, 1] - own_page[:, 0] - 1)
    begin, end = np.where(hard[:, None], own_page, language).T
    chosen = rng.integers(begin, end - 1)
    return chosen + (chosen >= drawn.documents), hard
