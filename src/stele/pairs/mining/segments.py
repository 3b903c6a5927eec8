"""Segments of a page: its sentences, and passages, which are whole sentences of one section packed up to so many words.

A word is what white space separates. Scripts that do not separate words (Chinese characters, kana, Thai, Lao, Khmer,
Burmese, Tibetan) have two letters a word: about what the dictionaries of Chinese, Japanese and Thai segmenters give.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from stele.pairs.mining.tokens import pack

# letters only: vowel signs, tone marks and punctuation of these scripts do not count
_UNSPACED = re.compile(
    "[\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf\u0f40-\u0f6c"
    "\u1000-\u102a\u103f\u1780-\u17b3\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
_LETTERS_A_WORD = 2
_ENDS_WIDE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff9f]$")  # no space follows these


def words(text: str) -> int:
    """How many words a text has, in which no white space is but single spaces between others.

    >>> words("The Rhône rises here."), words("東京は日本の首都"), words("東京 Tower")
    (4, 4, 2)
    """
    if text.isascii():
        return text.count(" ") + 1
    others, letters = _UNSPACED.subn(" ", text)
    if not letters:
        return text.count(" ") + 1
    return -(-letters // _LETTERS_A_WORD) + sum(any(map(str.isalnum, piece)) for piece in others.split())


def join(sentences: Sequence[str]) -> str:
    """Sentences as one text: a space between two, none after a full-width sign.

    >>> join(["One.", "Two."]), join(["一。", "二。"])
    ('One. Two.', '一。二。')
    """
    if len(sentences) == 1 or all(map(str.isascii, sentences)):
        return " ".join(sentences)
    spaced = [sentence if _ENDS_WIDE.search(sentence) else sentence + " " for sentence in sentences[:-1]]
    return "".join([*spaced, sentences[-1]])


def passages(sentences: Sequence[str], sections: Sequence[int], limit: int) -> list[int]:
    """Where passages begin, and the number of sentences at the end.

    Whole sentences are packed as long as they have `limit` words together and belong to one section (`sections`: the
    sentences with which sections begin); a sentence with more words is a passage of its own.

    >>> passages(["a b", "c", "d e f g h", "i", "j"], [4], limit=4)
    [0, 2, 3, 4, 5]
    """
    lengths = [words(sentence) for sentence in sentences]
    starts = sorted({0, *sections, len(lengths)})
    begins = [0]
    for begin, end in pairwise(starts):
        begins += [begin + bound for bound in pack(lengths[begin:end], limit)[1:]]
    return begins


class Page:
    """The segments of one page; passages are made when they are asked for.

    `seed` belongs to the page: what is drawn from the page is drawn with it.
    """

    def __init__(self, sentences: Sequence[str], sections: Sequence[int], limit: int, seed: Sequence[int] = ()) -> None:
        self.sentences, self.sections, self.limit, self.seed = sentences, sections, limit, tuple(seed)
        self._texts: dict[int, str] = {}

    @cached_property
    def bounds(self) -> list[int]:
        return passages(self.sentences, self.sections, self.limit)

    @property
    def size(self) -> int:
        """How many passages the page has."""
        return len(self.bounds) - 1

    def passage(self, number: int) -> str | None:
        """The text of a passage, counted from 0; None where the page has fewer."""
        if number >= self.size:
            return None
        if number not in self._texts:
            self._texts[number] = join(self.sentences[self.bounds[number] : self.bounds[number + 1]])
        return self._texts[number]

    def passage_of(self, sentence: int) -> str:
        """The text of the passage that holds a sentence."""
        return self.passage(bisect_right(self.bounds, sentence) - 1)

    @cached_property
    def shuffled(self) -> list[int]:
        """The numbers of the passages in an order drawn with the page's seed."""
        return np.random.default_rng(self.seed).permutation(self.size).tolist()
