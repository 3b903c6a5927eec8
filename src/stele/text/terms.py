"""Split texts into terms, by the language's entry in catalogue/analyzers.yaml.

>>> analyzer("en")("The cities' rivers, U.S. 1,000 km")
['citi', 'river', 'u.', '1,000', 'km']
>>> analyzer("ja")("東京タワー2号")
['東京', '京タ', 'タワ', 'ワー', '2', '号']
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from stele import catalogue
from stele.catalogue.schema import benchmarks as analyzers

# Unicode's word boundaries (UAX 29, rules WB6, WB7, WB11, WB12): a word continues after . : · and the apostrophe
# between letters, and after . , ; the apostrophe and the two separators of Arabic numbers between digits
_INSIDE = r"(?:(?<=[\p{L}\p{M}])['.:·](?=\p{L})WORD+|(?<=\p{N})['.,;\u066b\u066c](?=\p{N})WORD+)*"
# soft hyphens, marks of direction, variation selectors: they change only the look of a word
_UNSEEN = re.compile("[\u00ad\u200e\u200f\u202a-\u202e\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")
_FRACTION = re.compile("[\u00bc-\u00be\u2150-\u215f\u2189]")  # NFKC would make 61⁄2 of 6½
_LONG_SOUND = "ー"  # U+30FC belongs to no script, and to Japanese words only
MOST_WORDS = 1 << 20  # words that are cached with their terms; a full cache is emptied

Analyzer = Callable[[str], list[str]]


@cache
def analyzer(language: str, stemmed: bool = True) -> Analyzer:
    """Makes the function that splits a text into its terms, in order, with repetitions.

    Without stemming, terms are full words, as in the vocabularies of word vectors.

    >>> analyzer("en", stemmed=False)("The cities' rivers")
    ['cities', 'rivers']
    """
    cut, term = _cut(language), _Cache(_term(language, stemmed))
    return lambda text: [value for word in cut(text) if (value := term[word]) is not None]


def described(language: str) -> dict:
    """Description of a language's analyzer, for records."""
    return catalogue.entry(analyzers.Analyzer, language).given()


class TermNumbers:
    """Splits texts into numbers of terms: an index into `vocabulary`, or -1 for a term that is not in it.

    >>> TermNumbers("en", ["river"])("The river Nile")
    [0, -1]
    """

    def __init__(self, language: str, vocabulary: Iterable[str]) -> None:
        numbers, term_of = {term: number for number, term in enumerate(vocabulary)}, _term(language, stemmed=True)

        def number(word: str) -> int | None:
            term = term_of(word)
            return None if term is None else numbers.get(term, -1)

        self._cut, self._number = _cut(language), _Cache(number)

    def __call__(self, text: str) -> list[int]:
        number = self._number
        return [value for word in self._cut(text) if (value := number[word]) is not None]


class _Cache(dict):
    """Cache of a function's values by word."""

    def __init__(self, value: Callable[[str], Any]) -> None:
        self._value = value

    def __missing__(self, word: str) -> Any:
        if len(self) >= MOST_WORDS:
            self.clear()
        self[word] = value = self._value(word)
        return value


def _term(language: str, stemmed: bool) -> Callable[[str], str | None]:
    """Makes the function that turns a word into its term, a stop word into None."""
    entry = catalogue.entry(analyzers.Analyzer, language)
    elided, stopwords, stem = frozenset(entry.elided or ()), _stopwords(entry), _stemmer(entry) if stemmed else str

    def term(word: str) -> str | None:
        full = _without_article(word, elided) if elided else word
        # Lucene's English analyzer drops 's before stop words: "it's" is one of them
        return None if full.removesuffix("'s") in stopwords else stem(_ascii_digits(full))

    return term


def _cut(language: str) -> Analyzer:
    """Makes the function that splits a text into words or, in scripts without spaces, into overlapping n-grams."""
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
            if match[1] is None:
                cut_words.append(match[0])
            else:
                run = letters.findall(match[0])
                cut_words += ["".join(run[i : i + size]) for i in range(max(1, len(run) - size + 1))]
        return cut_words

    return cut


def _normal(text: str) -> str:
    """Normalises a text: NFKC, lower case, one kind of apostrophe, fractions apart, no soft hyphens or invisible marks.

    >>> _normal("London’s Donau\\u00addampfer")
    "london's donaudampfer"
    """
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _FRACTION.sub(r" \g<0>", text))
    return _UNSEEN.sub("", text).lower().replace("’", "'")


def _without_article(word: str, articles: frozenset[str]) -> str:
    """Removes an elided article from the beginning of a word.

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
