"""Headings of pages: the sections that they begin, their terms, and their vectors.

A section's heading is the nearest before its text, of whatever level; the lead, before the first, has none ("").
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from stele.encoders.word_vectors import WordVectors
from stele.training.store import ranges

_TERM = re.compile(r"\w+")


class Span(NamedTuple):
    """A section of a page: its heading, and its sentences [begin, end)."""

    heading: str
    begin: int
    end: int


def spans(headings: Sequence[str], begins: Sequence[int], size: int) -> list[Span]:
    """The sections of a page of `size` sentences, in reading order; `begins` ascend and may repeat.

    >>> spans(["Life", "Early life", "Work"], [2, 2, 5], 6)
    [Span(heading='', begin=0, end=2), Span(heading='Early life', begin=2, end=5), Span(heading='Work', begin=5, end=6)]
    """
    nearest = {0: "", **dict(zip(begins, headings, strict=True))}  # of several at one sentence the last
    return [Span(nearest[begin], begin, end) for begin, end in pairwise([*sorted(nearest), size])]


def terms(heading: str, stop_words: frozenset[str]) -> list[str]:
    """The terms of a heading as fastText's vocabulary writes them: runs of letters and digits in lower case.

    >>> terms("L'Histoire de la France (1789)", frozenset({"l", "de", "la"}))
    ['histoire', 'france', '1789']
    """
    words = _TERM.findall(unicodedata.normalize("NFKC", heading).lower())
    return [word for word in words if word not in stop_words]


class Headings(NamedTuple):
    """The sections of some pages of one language that have a heading.

    page      int32 [sections], ascending
    place     int32 [sections]: which of the page's sections, the lead counted where there is one
    size      int32 [sections]: sentences
    heading   int32 [sections]: a number of `texts`
    texts     the different headings
    """

    page: np.ndarray
    place: np.ndarray
    size: np.ndarray
    heading: np.ndarray
    texts: list[str]


def collect(pages: Iterable[tuple[int, list[Span]]]) -> Headings:
    """The sections of some pages (ascending) that have a heading."""
    rows = array("i")
    numbers: dict[str, int] = {}
    for page, sections in pages:
        for place, (heading, begin, end) in enumerate(sections):
            if heading:
                rows.extend((page, place, end - begin, numbers.setdefault(heading, len(numbers))))
    columns = np.array(rows, np.int32).reshape(-1, 4).T
    return Headings(*columns, list(numbers))


class HeadingVectors:
    """The vectors of headings: the means of those of their known terms, of length 1 (Yu et al., section 4.1)."""

    def __init__(self, terms_of: Sequence[Sequence[str]], words: WordVectors) -> None:
        known: Mapping[str, int] = words.words
        rows = [[known[term] for term in heading if term in known] for heading in terms_of]
        self._lengths = np.fromiter(map(len, rows), np.int64, len(rows))
        self._begins = np.cumsum(self._lengths) - self._lengths
        self._rows = np.fromiter((row for heading in rows for row in heading), np.int64, int(self._lengths.sum()))
        self._vectors = words.vectors
        self.known = self._lengths > 0

    def of(self, headings: np.ndarray) -> np.ndarray:
        """float64 [n, width]: those of some headings that have a known term; zeros where terms cancel out."""
        lengths = self._lengths[headings]
        rows = self._vectors[self._rows[ranges(self._begins[headings], lengths)]].astype(np.float64)
        sums = np.add.reduceat(rows, np.cumsum(lengths) - lengths) if len(headings) else rows
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
