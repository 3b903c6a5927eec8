"""Texts -> terms, by the language's entry in catalogue/analyzers.yaml.

>>> analyzer("en")("The cities' rivers, U.S. 1,000 km")
['citi', 'river', 'u.', '1,000', 'km']
>>> analyzer("ja")("東京タワー2号")
['東京', '京タ', 'タワ', 'ワー', '2', '号']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from stele import catalogue
from stele.catalogue.schema import benchmarks as analyzers

# Unicode's word boundaries (UAX 29, rules WB6, WB7, WB11, WB12): letters go on over . : · and the apostrophe, digits
# over . , ; and the apostrophe, when the same follows
_INSIDE = r"(?:(?<=[\p{L}\p{M}])['.:·](?=\p{L})WORD+|(?<=\p{N})['.,;](?=\p{N})WORD+)*"
# soft hyphens, marks of direction, variation selectors: they change how a word looks, not which word it is
_UNSEEN = re.compile("[\u00ad\u200e\u200f\u202a-\u202e\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")
_LONG_SOUND = "ー"  # U+30FC belongs to no script, and to Japanese words only
MOST_WORDS = 1 << 20  # kept with their terms; when there are more, all are forgotten

Analyzer = Callable[[str], list[str]]


@cache
def analyzer(language: str, stemmed: bool = True) -> Analyzer:
    """The function that gives the terms of a text, in order, with repetitions.

    Without stemming they are words, as vectors of words are named.

    >>> analyzer("en", stemmed=False)("The cities' rivers")
    ['cities', 'rivers']
    """
    cut, term = _cut(language), _Terms(language, stemmed)
    return lambda text: [value for word in cut(text) if (value := term[word]) is not None]


def described(language: str) -> dict:
    """What a record says of a language's analyzer."""
    return catalogue.entry(analyzers.Analyzer, language).given()


class TermNumbers:
    """The terms of texts as numbers: those of `vocabulary` from 0, all others -1.

    >>> TermNumbers("en", ["river"])("The river Nile")
    [0, -1]
    """

    def __init__(self, language: str, vocabulary: Iterable[str]) -> None:
        numbers = {term: number for number, term in enumerate(vocabulary)}
        self._cut, self._number = _cut(language), _Numbers(_Terms(language), numbers)

    def __call__(self, text: str) -> list[int]:
        number = self._number
        return [value for word in self._cut(text) if (value := number[word]) is not None]


class _Terms(dict):
    """word -> its term, None for a stop word; words are looked up once."""

    def __init__(self, language: str, stemmed: bool = True) -> None:
        entry = catalogue.entry(analyzers.Analyzer, language)
        self._elided, self._stopwords = frozenset(entry.elided or ()), _stopwords(entry)
        self._stem = _stemmer(entry) if stemmed else str

    def __missing__(self, word: str) -> str | None:
        if len(self) >= MOST_WORDS:
            self.clear()
        full = _without_article(word, self._elided) if self._elided else word
        stem = None if full in self._stopwords else self._stem(_ascii_digits(full))
        self[word] = stem
        return stem


class _Numbers(dict):
    """word -> the number of its term, -1 for one that no query has, None for a stop word."""

    def __init__(self, terms: _Terms, numbers: Mapping[str, int]) -> None:
        self._terms, self._numbers = terms, numbers

    def __missing__(self, word: str) -> int | None:
        if len(self) >= MOST_WORDS:
            self.clear()
        term = self._terms.__missing__(word)
        value = None if term is None else self._numbers.get(term, -1)
        self[word] = value
        return value


def _cut(language: str) -> Analyzer:
    """The function that cuts a text into words, and where words are not parted, into pieces."""
    import regex

    entry = catalogue.entry(analyzers.Analyzer, language)
    if entry.grams is None:
        words = regex.compile(r"[\p{L}\p{N}]\w*" + _INSIDE.replace("WORD", r"\w"))
        return lambda text: words.findall(_normal(text))
    run = "".join(rf"\p{{{script}}}" for script in entry.scripts) + _LONG_SOUND
    run = rf"[[{run}]--\p{{Nd}}]"
    word = rf"[\w--{run}]"
    pieces = regex.compile(rf"(?V1)({run}+)|[[\p{{L}}\p{{N}}]--{run}]{word}*{_INSIDE.replace('WORD', word)}")
    letters, size = regex.compile(r"\X"), entry.grams

    def cut(text: str) -> list[str]:
        cut_words = []
        for match in pieces.finditer(_normal(text)):
            run = match[0] if match[1] is None else letters.findall(match[0])
            if match[1] is None:
                cut_words.append(run)
            elif len(run) <= size:
                cut_words.append("".join(run))
            else:
                cut_words += ["".join(run[i : i + size]) for i in range(len(run) - size + 1)]
        return cut_words

    return cut


def _normal(text: str) -> str:
    """A text in NFKC and lower case, with one kind of apostrophe, without hyphens and marks that nobody sees.

    >>> _normal("London’s Donau\\u00addampfer")
    "london's donaudampfer"
    """
    if text.isascii():
        return text.lower()
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).lower().replace("’", "'")


def _without_article(word: str, articles: frozenset[str]) -> str:
    """A word without the article that has lost its vowel before it.

    >>> _without_article("l'état", frozenset({"l"})), _without_article("aujourd'hui", frozenset({"l"}))
    ('état', "aujourd'hui")
    """
    article, mark, rest = word.partition("'")
    return rest if mark and article in articles else word


def _ascii_digits(word: str) -> str:
    if word.isascii():
        return word
    return "".join(str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in word)


def _stemmer(entry: analyzers.Analyzer) -> Callable[[str], str]:
    if entry.stemmer is None:
        return str
    import Stemmer

    stem = Stemmer.Stemmer(entry.stemmer, 0).stemWord
    return (lambda word: _without_accents(stem(word))) if entry.accents is False else stem


def _without_accents(word: str) -> str:
    letters = unicodedata.normalize("NFD", word)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _stopwords(entry: analyzers.Analyzer) -> frozenset[str]:
    if entry.stopwords is None:
        return frozenset()
    from bm25s import stopwords

    return frozenset(getattr(stopwords, f"STOPWORDS_{entry.stopwords}"))
