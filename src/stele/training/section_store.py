"""Stores of section pairs: `pairs tokenise_sections` writes them, the objectives of the CLIR language model read them.

A store has a pair of languages, such as "de-en": the first is side 0, the second side 1. Its folder contains

    tokens.npy, segments.npy, examples.npy   a `Store` whose examples are sections and whose segments are their
                   sentences, without special tokens: sections of side 0 before those of side 1, pages in the order of
                   their corpus, a page's sections in reading order. A page with a matched section has all its sections
                   here, even the lead and those too short to match: they serve as hard negatives
    pairs.npy      int64 [pairs, 2]: the matched sections by their numbers in that store, column 0 of side 0, column 1
                   of side 1, in an order drawn by the seed. No section is in two pairs
    pages.npy      int64 [pages + 1]: the number of each page's first section; the last entry counts all sections
    languages.npy  int64 [3]: 0, the number of side 1's first section, the number of all sections
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stele.errors import SteleError
from stele.files.reading import reading
from stele.training.store import Flat, Store, ranges, write_store

PAIRS, PAGES, LANGUAGES = "pairs.npy", "pages.npy", "languages.npy"
EMPTY = "empty"  # the writer's count of dropped pairs


class TokenSection(NamedTuple):
    """A section to be stored: its side (0 or 1), the number of its page, its sentences, each uint32 [tokens]."""

    side: int
    page: int
    sentences: Sequence[np.ndarray]


def write_section_store(folder: Path, sections: Iterable[TokenSection], pairs: np.ndarray) -> dict[str, int]:
    """Writes a store into `folder`; returns its numbers of pairs (`examples`), sections, segments and tokens.

    `sections` come in the order described above; `pairs`, int64 [n, 2], hold their positions in it. Sections without a
    sentence are left out, together with their pairs, whose number is returned as `empty`.
    """
    sides, pages, has_text = array("b"), array("q"), array("b")

    def filled() -> Iterator[Sequence[np.ndarray]]:
        for side, page, sentences in sections:
            has_text.append(len(sentences) > 0)
            if sentences:
                sides.append(side)
                pages.append(page)
                yield sentences

    stored = write_store(folder, filled())
    total = stored.pop("examples")
    is_kept = np.array(has_text, bool)
    number = np.cumsum(is_kept) - 1
    whole = is_kept[pairs].all(axis=1)
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
    """The section pairs of one store; `len` is their number, `in_all` the full number if the store is a sample.

    >>> store = SectionStore("work/miniature/pairs/section_pairs/mbert/en-es")  # doctest: +SKIP
    >>> first, second = store.pairs[0]  # doctest: +SKIP
    >>> [len(sentence) for sentence in store.sections[first]]  # doctest: +SKIP
    [13, 9, 17, 11, 12]
    """

    def __init__(self, folder: Path | str, in_all: int | None = None) -> None:
        self.sections = Store(folder)
        self.folder, self.tokens = self.sections.folder, self.sections.tokens
        self.pairs, self.pages, self.languages = map(self._open, (PAIRS, PAGES, LANGUAGES))
        if not self._fits():
            raise SteleError(
                f"{self.folder}: the store of section pairs is damaged: its pairs, pages and languages do not fit its "
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

    def _fits(self) -> bool:
        """Whether pages (none empty) and languages divide all sections, and each side of a pair is of its language."""
        if self.pairs.shape[1:] != (2,) or self.languages.shape != (3,) or self.pages.ndim != 1 or not len(self.pages):
            return False
        ends = [*self.pages[[0, -1]], *self.languages[[0, 2]]]
        rising = (np.diff(self.pages) > 0).all() and (np.diff(self.languages) >= 0).all()
        within = (self.pairs >= self.languages[:2]) & (self.pairs < self.languages[1:])
        return ends == [0, len(self.sections)] * 2 and bool(rising and within.all())

    def __len__(self) -> int:
        return len(self.pairs)

    def of_language(self, side: int) -> tuple[int, int]:
        """Range [begin, end) of the section numbers of a side's language."""
        return int(self.languages[side]), int(self.languages[side + 1])

    def of_page(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ranges [begin, end) of the sections on the page of each section of `numbers`; two arrays int64 [n].

        The page has end - begin - 1 other sections.
        """
        page = np.searchsorted(self.pages, numbers, side="right") - 1
        return self.pages[page], self.pages[page + 1]

    def sentence_counts(self, numbers: np.ndarray) -> np.ndarray:
        """Number of sentences of each section of `numbers`, at least 1: int64 [n]."""
        return self.sections.examples[numbers + 1] - self.sections.examples[numbers]

    def sentences(self, numbers: np.ndarray, places: np.ndarray) -> Flat:
        """Sentence `places[i]`, from 0, of section `numbers[i]`, [n] each; each is an example of one segment."""
        chosen = self.sections.examples[numbers] + places
        return self._texts(self.sections.segments[chosen], self.sections.segments[chosen + 1])

    def documents(self, numbers: np.ndarray, most: int) -> Flat:
        """First `most` tokens of each section of `numbers` [n], across sentences; each is an example of one segment."""
        begin, end = (self.sections.segments[self.sections.examples[n]] for n in (numbers, numbers + 1))
        return self._texts(begin, np.minimum(end, begin + most))

    def _texts(self, begin: np.ndarray, end: np.ndarray) -> Flat:
        tokens = self.sections.tokens[ranges(begin, end - begin)].astype(np.int64)
        return Flat(tokens, end - begin, np.ones(len(begin), np.int64))
