"""Hard negatives by words: the passages that share the rarest words with a query, as BM25 would rank them.

The upstream training sets take theirs from the top of a BM25 run; BM25 without the length term is enough for passages
of about equal length.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Sequence

WORD = re.compile(r"\w+")
LONG = 12  # characters; longer runs come from scripts without blanks and are cut into trigrams
COMMON = 0.05  # words that stand in more than this share of the passages tell nothing


def words(text: str) -> set[str]:
    """The words of a text, lower-cased; long runs of letters as trigrams.

    >>> sorted(words("Is it it?"))
    ['is', 'it']
    """
    distinct: set[str] = set()
    for word in WORD.findall(text.lower()):
        distinct.update([word] if len(word) <= LONG else (word[i : i + 3] for i in range(len(word) - 2)))
    return distinct


class Lexical:
    """An inverted index over passages, which finds those nearest to a query by words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._postings: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(texts):
            for word in words(text):
                self._postings[word].append(number)
        self._size = len(texts)

    def nearest(self, query: str, count: int, without: Collection[int]) -> list[int]:
        """Numbers of at most `count` passages outside `without`, the nearest first, ties by number."""
        scores: dict[int, float] = defaultdict(float)
        for word in sorted(words(query)):
            posting = self._postings.get(word, ())
            if len(posting) <= max(20, COMMON * self._size):
                weight = math.log(1 + self._size / (len(posting) or 1))
                for number in posting:
                    scores[number] += weight
        ranked = sorted((-score, number) for number, score in scores.items() if number not in without)
        return [number for _, number in ranked[:count]]
