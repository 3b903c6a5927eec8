"""Stores of section pairs: what `pairs tokenise_sections` writes and the objectives of the CLIR language model read.

A store is of two languages, "de-en": the first is side 0, the second side 1. In its folder lie

    tokens.npy, segments.npy, examples.npy   a `Store` whose examples are sections and whose segments are their
                   sentences, without special tokens: sections of side 0 before those of side 1, pages in the order of
                   their corpus, a page's sections in reading order. Of a page that has a pair all sections are there,
                   also the lead and those too short to be matched: the others are a pair's hard negatives
    pairs.npy      int64 [pairs, 2]: the matched sections by their numbers in that store, column 0 of side 0, column 1
                   of side 1. No section is in two pairs. In an order drawn by the seed
    pages.npy      int64 [pages + 1]: the number of each page's first section, and of all sections at the end
    languages.npy  int64 [3]: 0, the number of side 1's first section, the number of all sections

What a step draws is drawn in training: the side that asks, the sentence that is its query, the negative.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.files.reading import reading
from stele.training.store import Flat, Store, ranges, write_store

PAIRS, PAGES, LANGUAGES = "pairs.npy", "pages.npy", "languages.npy"
EMPTY = "empty"  # what the writer counts of pairs that it drops


class TokenSection(NamedTuple):
    """A section to be stored: which side's page, the page's number, and its sentences, each uint32 [tokens]."""

    side: int
    page: int
    sentences: Sequence[np.ndarray]


def write_section_store(folder: Path, sections: Iterable[TokenSection], pairs: np.ndarray) -> dict[str, int]:
    """Writes a store into `folder`; returns how many pairs (`examples`), sections, segments and tokens it has.

    `sections` come in the order above, and `pairs`, int64 [n, 2], count them. Sections without a sentence are left out,
    and so are the pairs that have one, which `empty` counts.
    """
    sides, pages, there = array("b"), array("q"), array("b")

    def filled() -> Iterator[Sequence[np.ndarray]]:
        for side, page, sentences in sections:
            there.append(len(sentences) > 0)
            if sentences:
                sides.append(side)
                pages.append(page)
                yield sentences

    stored = write_store(folder, filled())
    total = stored.pop("examples")
    kept = np.array(there, bool)
    number = np.cumsum(kept) - 1
    whole = kept[pairs].all(axis=1)
    side, page = np.array(sides, np.int64), np.array(pages, np.int64)
    new = np.flatnonzero((np.diff(side, prepend=-1) != 0) | (np.diff(page, prepend=-1) != 0))
    arrays = {
        PAIRS: number[pairs[whole]],
        PAGES: np.append(new, total),
        LANGUAGES: np.array([0, np.searchsorted(side, 1), total]),
    }
    for name, values in arrays.items():
        np.save(folder / name, values.astype(np.int64))
    return {"examples": int(whole.sum()), "sections": total, **stored, EMPTY: int((~whole).sum())}


class SectionStore:
    """The pairs of one store; `len` is how many there are, `in_all` the same, as of a `Store`.

    >>> store = SectionStore("work/miniature/pairs/section_pairs/mbert/en-es")  # doctest: +SKIP
    >>> first, second = store.pairs[0]  # doctest: +SKIP
    >>> [len(sentence) for sentence in store.sections[first]]  # doctest: +SKIP
    [13, 9, 17, 11, 12]
    """

    def __init__(self, folder: Path | str, in_all: int | None = None) -> None:
        self.sections = Store(folder)
        self.folder = self.sections.folder
        self.pairs, self.pages, self.languages = (self._open(name) for name in (PAIRS, PAGES, LANGUAGES))
        if not (self._has_shapes() and self._has_order() and all(map(self._is_within, (0, 1)))):
            raise SteleError(
                f"{self.folder}: a damaged store of section pairs: its pairs, pages and languages do not fit its "
                f"{len(self.sections)} sections; tokenise the pairs again"
            )
        self.in_all = len(self) if in_all is None else in_all

    def _open(self, name: str) -> np.ndarray:
        path = self.folder / name
        with reading(path, "array", "tokenise the pairs again"):
            values = np.load(path, allow_pickle=False)
        if values.dtype != np.int64:
            raise SteleError(f"{path}: found {values.dtype}, want int64; tokenise the pairs again")
        return values

    def _has_shapes(self) -> bool:
        return self.pairs.shape[1:] == (2,) and self.pages.ndim == 1 and self.languages.shape == (3,)

    def _has_order(self) -> bool:
        """Pages and languages divide all sections, each page with one at least."""
        if not len(self.pages):
            return False
        ends = [*self.pages[[0, -1]], *self.languages[[0, 2]]]
        rising = (np.diff(self.pages) > 0).all() and (np.diff(self.languages) >= 0).all()
        return ends == [0, len(self.sections)] * 2 and bool(rising)

    def _is_within(self, side: int) -> bool:
        begin, end = self.of_language(side)
        return bool(((self.pairs[:, side] >= begin) & (self.pairs[:, side] < end)).all())

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def tokens(self) -> np.ndarray:
        """All tokens, uint32, as a `Store` has them."""
        return self.sections.tokens

    def of_language(self, side: int) -> tuple[int, int]:
        """The numbers [begin, end) of all sections of a side's language."""
        return int(self.languages[side]), int(self.languages[side + 1])

    def of_page(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers [begin, end), int64 [n] each, of the sections of the pages that some sections are of.

        The page's other sections are all of these but the section itself: end - begin - 1 of them.
        """
        page = np.searchsorted(self.pages, numbers, side="right") - 1
        return self.pages[page], self.pages[page + 1]

    def sentence_counts(self, numbers: np.ndarray) -> np.ndarray:
        """int64 [n]: how many sentences each of some sections has, at least 1."""
        return self.sections.examples[numbers + 1] - self.sections.examples[numbers]

    def sentences(self, numbers: np.ndarray, places: np.ndarray) -> Flat:
        """One sentence of each of some sections, the `places`-th, counted from 0: a segment an example."""
        chosen = self.sections.examples[numbers] + places
        return self._texts(self.sections.segments[chosen], self.sections.segments[chosen + 1])

    def documents(self, numbers: np.ndarray, most: int) -> Flat:
        """The first `most` tokens of each of some sections, whatever their sentences: a segment an example."""
        begin, end = (self.sections.segments[self.sections.examples[n]] for n in (numbers, numbers + 1))
        return self._texts(begin, np.minimum(end, begin + most))

    def _texts(self, begin: np.ndarray, end: np.ndarray) -> Flat:
        tokens = self.sections.tokens[ranges(begin, end - begin)].astype(np.int64)
        return Flat(tokens, end - begin, np.ones(len(begin), np.int64))
