"""Sentence splitting for every script: `sentencex` (Wikimedia) plus five rules for what it gets wrong or leaves out.

sentencex is the kept library that does this best for our languages: rules for some 300 languages, character offsets
kept, about 100 MB/s; pysbd and blingfire are no longer kept, splitters with a model are a thousand times slower.
On top of it:

1. It reads the text without brackets and quotation marks. A closing one belongs to what it closes, with the notes
   behind it ([3], [2004]); a pair of at most LONGEST characters stays whole; where a quotation ends, a particle or a
   verb of saying shows that the sentence goes on (`quotations.py`).
2. Full stops that it does not know: the Khmer and Tibetan ones, and a CJK one before a Latin letter or digit.
3. Thai and Lao have neither full stops nor spaces between words. A space there ends a phrase, not always a sentence: we
   split at a space before a connective, and at any space between letters once the piece has PHRASE characters.
4. No boundary after an abbreviation, an initial, an ordinal or a part of a date (`abbreviations.py`), and
   none before a small letter after a number, after at most four letters, or after a mark other than a full stop.
5. No boundary falls inside a protected span (the text of a link: "St. John").

Quality, boundaries against XQuAD-R's sentence breaks (translated encyclopaedia prose), precision / recall:
ar 1.0/.97, de .99/.97, el .99/.97, en 1.0/.99, es .99/.95, hi 1.0/.97, ru .99/.98, tr .92/.94, vi 1.0/.95,
th .17/.82. Theirs are one program's work too: zh has .94/.94 since theirs leave out what stands before a digit; those
that ours lacks in ar, es and tr are nearly all theirs after initials and numerals ("II. | Elizabeth"); in th they
follow connectives (PyThaiNLP's crfcut has .21/.52 at a thousandth of the speed).
News in 33 languages, and running text with dates and abbreviations in 28: docs/kept.md.
What is missed: short quotations of several sentences, which stay whole, and a sentence that ends with an initial or, in
German, with a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from stele.text.abbreviations import goes_on
from stele.text.quotations import Pair, goes_on_behind, is_particle, read_signs, split_at_signs

PHRASE = 20  # characters after which any space between Thai or Lao letters ends a piece
PIECE = 10_000  # characters given to the library at once

# full stops that the library does not know: Khmer khan and bariyoosan, Tibetan shad; ideographic ones before Latin text
_OWN_STOP = re.compile(
    "(?<![\u17d4\u17d5\u0f0d\u0f0e])[\u17d4\u17d5\u0f0d\u0f0e]++(?= *+[^ ])"
    "|(?<![\u3002\uff61\uff01\uff1f])[\u3002\uff61\uff01\uff1f]++(?= *+[A-Za-z0-9])"
)
# a note stands behind the sentence that it belongs to: [3], [2004], [note 1]
_NOTES = re.compile(r"(?: ?\[(?:\d[\d,;–—-]{0,30}|[a-z]|(?:note|nb|n) ?\d+|citation needed)\])+", re.I)
_NO_BEGINNING = frozenset(("", *",;:、，；：·・.!?。．！？｡،؛।॥۔؟።။"))  # what no sentence begins with
_UNSPACED_GAP = re.compile('(?<=[\u0e01-\u0e4e\u0e81-\u0ecd"”’)%0-9]) +(?=[\u0e01-\u0e4e\u0e81-\u0ecd"“‘(])')
_ODD = re.compile(
    "[\u0e01-\u0eb0\u0f0d\u0f0e\u17d4\u17d5\u3002\uff01\uff1f\uff61]"
)  # a sign or letter of the two above
_LETTER_GAP = re.compile("[\u0e01-\u0e4e\u0e81-\u0ecd] +[\u0e01-\u0e4e\u0e81-\u0ecd]")
# Thai connectives that open a clause: which, in order to, however, because, by, while, when, besides, therefore,
# after ...
_CONNECTIVE = re.compile(
    "ซึ่ง|เพื่อ|อย่างไรก็|เนื่องจาก|โดย|ในขณะ|ขณะ|เมื่อ|นอกจาก|เพราะ|ดังนั้น|หลังจาก|ตัวอย่าง|แม้|ถึงแม้|ทำให้|ด้วยเหตุ|เช่น"
    "|ส่วน|ต่อมา|ก่อน|ตั้งแต่|จากนั้น|แล้ว|แต่|ได้แก่|ส่งผล"
)
_SHORTEST = 10  # characters a piece has at least before a connective splits it


def split_sentences(text: str, language: str, protected: Iterable[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Spans [start, end) of the sentences of a paragraph, in order, without the white space around them.

    `text` has no white space but single spaces (`tidy`); `language` is a code, an unknown one gets general rules;
    `protected` are spans that no boundary may cut. Signs without a letter or digit stay with the sentence before them
    (at the start: after them); a text of such signs only has no sentence.

    >>> split_sentences("Dr. Ames left. He came back.", "en")
    [(0, 14), (15, 28)]
    """
    ends = _ends(text, language)
    if protected := {place for start, stop in protected for place in range(start + 1, stop)}:
        ends = [end for end in ends if end not in protected]
    if not ends:
        return [(0, len(text))] if any(map(str.isalnum, text)) else []
    spans: list[tuple[int, int]] = []
    start, carried = 0, -1  # where signs begin that wait for a sentence
    for end in (*ends, len(text)):
        stop = end - (text[end - 1] == " ")
        if text[start] == " ":
            start += 1
        if start < stop and (text[start].isalnum() or any(map(str.isalnum, text[start:stop]))):
            spans.append((start if carried < 0 else carried, stop))
            carried = -1
        elif spans and stop > start:
            spans[-1] = (spans[-1][0], stop)
        elif stop > start and carried < 0:
            carried = start
        start = end
    return spans


def tidy(text: str) -> str:
    """One space for every run of white space of any kind, none at the ends."""
    return " ".join(text.split())


def _ends(text: str, language: str) -> list[int]:
    """Where a sentence ends inside the text, with the white space behind it; in order."""
    odd = not text.isascii() and _ODD.search(text) is not None
    parts = split_at_signs(text)
    if len(parts) == 1:
        ends = [end for end in _library_ends(text, language) if not goes_on(text, end, language)]
        if odd:
            ends = sorted({*ends, *(stop + (text[stop] == " ") for stop in _own_stops(text))})
            ends = sorted({*ends, *_unspaced_ends(text, ends)})
        return ends
    plain = " ".join(parts[::2])  # the library reads no signs: which full stop they move, or make none, is decided here
    if "[" in text:
        plain = _blanked(plain, [note.span() for note in _NOTES.finditer(text)])
    stops = [
        end if plain[end - 1] != " " else end - 1 if plain[end - 2] != " " else _behind_text(plain, end)
        for end in _library_ends(plain, language)
    ]
    if not stops and not odd:
        return stops
    pairs, signs = read_signs(text, parts)
    if not odd:
        return _ends_with_signs(text, stops, language, pairs, signs)
    ends = _ends_with_signs(text, sorted({*stops, *_own_stops(plain)}), language, pairs, signs)
    return sorted({*ends, *_outside(pairs, _unspaced_ends(text, ends))})


def _ends_with_signs(
    text: str, stops: Sequence[int], language: str, pairs: Sequence[Pair], signs: dict[int, int]
) -> list[int]:
    """Where sentences end, given where full stops stand, in order."""
    ends: list[int] = []
    following = seen = 0  # number of the pair that ends next; how far letters of the sentence were looked for
    has_letters = False
    next_end = pairs[0][1] if pairs else len(text) + 1
    for stop in stops:
        while next_end <= stop:
            following += 1
            next_end = pairs[following][1] if following < len(pairs) else len(text) + 1
        end, closer = stop, -1
        if stop in signs or stop + 1 in signs:
            end, closer = _behind_closers(text, stop, signs)
        if end < next_end <= len(text) and pairs[following][0] < stop:
            continue
        following_sign = text[end : end + 2].lstrip()[:1]
        if following_sign in _NO_BEGINNING:
            continue
        space = end + (text[end] == " ")
        if closer >= 0:
            opener = max(signs[closer], 0)
            has_letters = has_letters or any(map(str.isalnum, text[seen:opener]))
            seen = max(seen, opener)
            if goes_on_behind(text, opener, closer, has_letters, end, language):
                continue
        if goes_on(text, space, language):
            continue
        if space in signs and _goes_on_around(text, space, pairs, following, language):
            continue
        ends.append(space)
        seen = space
        has_letters = False
    return ends


def _blanked(plain: str, regions: Sequence[tuple[int, int]]) -> str:
    """The text with spaces in the regions, in order."""
    pieces, position = [], 0
    for start, end in regions:
        pieces += (plain[position:start], " " * (end - start))
        position = end
    return "".join([*pieces, plain[position:]])


def _own_stops(plain: str) -> list[int]:
    return [match.end() for match in _OWN_STOP.finditer(plain)]


def _behind_text(plain: str, end: int) -> int:
    """Where the white space before `end` begins."""
    while end and plain[end - 1] == " ":
        end -= 1
    return end


def _behind_closers(text: str, end: int, signs: dict[int, int]) -> tuple[int, int]:
    """(where the signs that close at `end` end, with notes behind them; place of the last such sign, -1 for none)."""
    closer = -1
    while end < len(text):
        place = end + (text[end] == " ")
        if signs.get(place, place) != place:
            closer, end = place, place + 1
        elif place in signs and (notes := _NOTES.match(text, end)):
            end = notes.end()
        else:
            break
    return end, closer


def _goes_on_around(text: str, place: int, pairs: Sequence[Pair], following: int, language: str) -> bool:
    """Whether what opens at `place` is an insertion, which the sentence goes on behind: Acme Inc. (Ohio) makes."""
    for start, end in pairs[following : following + 2]:
        if start == place and text[place] in "([（［【〔" and text[end - 2] not in ".。!！?？":
            behind = text[end : end + 16]
            return (
                behind[:1] in (",", ";")
                or (behind[:1] == " " and behind[1:2].islower())
                or is_particle(behind, language)
            )
    return False


def _outside(pairs: Sequence[Pair], ends: Iterable[int]) -> Iterator[int]:
    """The ends, in order, that stand inside no pair."""
    number = 0
    for end in ends:
        while number < len(pairs) and pairs[number][1] <= end:
            number += 1
        if number == len(pairs) or end <= pairs[number][0]:
            yield end


def _library_ends(text: str, language: str) -> list[int]:
    """The library's boundaries inside a text of any length: what follows the last whole sentence of a piece is read
    again.
    """
    if len(text) <= PIECE:
        return _ends_in_piece(text, language)[:-1]
    ends: list[int] = []
    begin = 0
    while begin < len(text):
        piece = text[begin : begin + PIECE]
        *inside, end = _ends_in_piece(piece, language)
        ends += [begin + position for position in inside]
        begin += inside[-1] if inside and begin + len(piece) < len(text) else end
    return ends


def _ends_in_piece(text: str, language: str) -> list[int]:
    import sentencex

    try:
        parts = sentencex.segment(language, text)
    except BaseException as error:  # a panic of the library is no Exception; the piece then stays one sentence
        if type(error).__name__ != "PanicException":
            raise
        return [len(text)]
    ends = list(accumulate(map(len, parts)))
    return ends if ends and ends[-1] == len(text) else [len(text)]


def _unspaced_ends(text: str, marks: Sequence[int]) -> Iterable[int]:
    """Where Thai and Lao phrases end, given the ends known already, in order."""
    start = index = 0
    for gap in _UNSPACED_GAP.finditer(text):
        while index < len(marks) and marks[index] <= gap.start():
            start = max(start, marks[index])
            index += 1
        size = gap.start() - start
        between_letters = size >= PHRASE and _LETTER_GAP.match(text, gap.start() - 1)
        if between_letters or (size >= _SHORTEST and _CONNECTIVE.match(text, gap.end())):
            start = gap.end()
            yield start
