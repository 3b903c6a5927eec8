"""Stores of section pairs: what `pairs tokenise_sections` writes and the objectives of the CLIR language model read.

A store is of two languages, "de-en": the first is side 0, the second side 1. Two things lie in its folder:

    tokens.npy, segments.npy, examples.npy   a `Store` whose examples are sections and whose segments are their sentences,
                     without special tokens: those of side 0 before those of side 1, pages in the order of their corpus,
                     a page's sections in reading order. Of a page that has a pair all sections are there, also the lead
                     and those too short to be matched: the others are a pair's hard negatives
    pairs.npy        int64 [pairs, 2]: the matched sections by their numbers in that store, column 0 of side 0, column 1
                     of side 1. No section is in two pairs. In an order drawn by the seed
    pages.npy        int64 [pages + 1]: the number of each page's first section, and of all sections at the end
    languages.npy    int64 [3]: 0, the number of side 1's first section, the number of all sections

What a step draws is drawn in training: the side that asks, the sentence that is its query, the negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from stele.errors import SteleError
from stele.training.store import Flat, Store, ranges, write_store

PAIRS, PAGES, LANGUAGES = "pairs.npy", "pages.npy", "languages.npy"


def write_section_store(
    folder: Path, sections: Iterable[Sequence[np.ndarray]], pairs: np.ndarray, pages: np.ndarray, second: int
) -> dict[str, int]:
    """Writes a store into `folder`; returns how many pairs, sections, sentences and tokens it has.

    `pairs`, `pages` are the arrays above; `second` is the number of side 1's first section. `sections` are read first, so
    the arrays may be filled while they come.
    """
    stored = write_store(folder, sections)
    total = stored.pop("examples")
    arrays = {PAIRS: pairs, PAGES: pages, LANGUAGES: np.array([0, second, total])}
    for name, array in arrays.items():
        np.save(folder / name, np.asarray(array, np.int64))
    return {"examples": len(pairs), "sections": total, **stored}


class SectionStore:
    """The pairs of one store, memory-mapped; `len` is how many pairs there are.

    >>> store = SectionStore("work/miniature/pairs/section_pairs/mbert/en-es")  # doctest: +SKIP
    >>> first, second = store.pairs[0]  # doctest: +SKIP
    >>> [len(sentence) for sentence in store.sections[first]]  # doctest: +SKIP
    [13, 9, 17, 11, 12]
    """

    def __init__(self, folder: Path | str, in_all: int | None = None) -> None:
        self.sections = Store(folder)
        self.folder = self.sections.folder
        self.pairs, self.pages, self.languages = (self._open(name) for name in (PAIRS, PAGES, LANGUAGES))
        total = len(self.sections)
        if not (
            self.pairs.ndim == 2
            and self.pairs.shape[1] == 2
            and self.languages.shape == (3,)
            and 0 == self.languages[0] <= self.languages[1] <= self.languages[2] == total
            and self.pages.ndim == 1
            and len(self.pages)
            and self.pages[0] == 0
            and self.pages[-1] == total
            and (np.diff(self.pages) > 0).all()
            and all(self._within(side) for side in (0, 1))
        ):
            raise SteleError(
                f"{self.folder}: a damaged store of section pairs: its pairs, pages and languages do not fit its "
                f"{total} sections; tokenise the pairs again"
            )
        self.in_all = len(self) if in_all is None else in_all

    def _open(self, name: str) -> np.ndarray:
        path = self.folder / name
        try:
            array = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise SteleError(f"{path}: not a readable array ({error}); tokenise the pairs again") from None
        if array.dtype != np.int64:
            raise SteleError(f"{path}: found {array.dtype}, want int64; tokenise the pairs again")
        return array

    def _within(self, side: int) -> bool:
        begin, end = self.of_language(side)
        numbers = self.pairs[:, side]
        return bool(((numbers >= begin) & (numbers < end)).all())

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
        return self.sections.examples[np.asarray(numbers) + 1] - self.sections.examples[numbers]

    def sentences(self, numbers: np.ndarray, places: np.ndarray) -> Flat:
        """One sentence of each of some sections, the `places`-th, counted from 0: tokens one after another."""
        chosen = self.sections.examples[numbers] + places
        return self._texts(self.sections.segments[chosen], self.sections.segments[chosen + 1])

    def documents(self, numbers: np.ndarray, most: int) -> Flat:
        """The first `most` tokens of each of some sections, whatever their sentences."""
        begin = self.sections.segments[self.sections.examples[numbers]]
        end = self.sections.segments[self.sections.examples[np.asarray(numbers) + 1]]
        return self._texts(begin, np.minimum(end, begin + most))

    def _texts(self, begin: np.ndarray, end: np.ndarray) -> Flat:
        """Flat texts, one an example: tokens and lengths as `training.text_pairs.Texts` has them."""
        tokens = self.sections.tokens[ranges(begin, end - begin)].astype(np.int64)
        return Flat(tokens, end - begin, np.ones(len(begin), np.int64))
