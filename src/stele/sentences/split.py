"""Sentence splitting for every script: `sentencex` (Wikimedia) plus four rules for what it gets wrong or leaves out.

sentencex is the kept library that does this best for our languages: rules for some 300 languages, character offsets
kept, about 100 MB/s; pysbd and blingfire are no longer kept, splitters with a model are a thousand times slower.
On top of it:

1. Full stops that it does not know: the Khmer and Tibetan ones, and a CJK one before a Latin letter or digit.
2. Thai and Lao have neither full stops nor spaces between words. A space there ends a phrase, not always a sentence: we
   split at a space before a connective, and at any space between letters once the piece has PHRASE characters.
3. No boundary after an abbreviation, an initial, an ordinal or a part of a date (`abbreviations.py`), and
   none before a small letter after a number, after at most four letters, or after a mark other than a full stop.
4. No boundary falls inside a protected span (the text of a link: "St. John").

Quality, boundaries against XQuAD-R's sentence breaks (translated encyclopaedia prose), precision / recall:
ar .99/.96, de .99/.96, el .99/.95, en .99/.97, es .99/.94, hi .99/.95, ru .99/.97, tr .92/.92, vi .99/.94,
th .17/.82. Theirs are one program's work too: zh has .94/.94 since theirs leave out what stands before a digit; those
that ours lacks in ar, es and tr are nearly all theirs after initials and numerals ("II. | Elizabeth"); in th they
follow connectives (PyThaiNLP's crfcut has .21/.52 at a thousandth of the speed).
Five Tatoeba sentences joined: precision .92-.99 and recall .96-1.0 in 26 of KEPT's 28 languages, th .83/.71; te .89/.46
(full stops left out there). Running text with dates and abbreviations in those 28: docs/kept.md.
What is missed: quotations of several sentences, and a sentence that ends with an initial or, in German, with a day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from stele.sentences.abbreviations import goes_on

PHRASE = 20  # characters after which any space between Thai or Lao letters ends a piece
PIECE = 10_000  # characters given to the library at once: its time grows with the square of quotation marks

# full stops that the library does not know: Khmer khan and bariyoosan, Tibetan shad; ideographic ones before Latin text
_OWN_STOP = re.compile(
    '(?:[\u17d4\u17d5\u0f0d\u0f0e]+["»”’)\\]]*\\s*(?=\\S)|[\u3002\uff61\uff01\uff1f][」』”’）]*(?=[A-Za-z0-9]))'
)
_UNSPACED = re.compile("[\u0e01-\u0e30\u0e81-\u0eb0]")
_UNSPACED_GAP = re.compile('(?<=[\u0e01-\u0e4e\u0e81-\u0ecd"”’)%0-9]) +(?=[\u0e01-\u0e4e\u0e81-\u0ecd"“‘(])')
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
    ends = {end for end in _all_library_ends(text, language) if end < len(text) and not goes_on(text, end, language)}
    if not text.isascii():
        ends.update(match.end() for match in _OWN_STOP.finditer(text))
        if _UNSPACED.search(text):
            ends.update(_unspaced_ends(text, ends))
    for start, stop in protected:
        ends.difference_update(range(start + 1, stop))
    spans: list[tuple[int, int]] = []
    start, carried = 0, None
    for end in sorted(ends | {len(text)}):
        piece = text[start:end]
        begin = start + len(piece) - len(piece.lstrip()) if carried is None else carried
        stop, start = start + len(piece.rstrip()), end
        if any(map(str.isalnum, text[begin:stop])):
            spans.append((begin, stop))
            carried = None
        elif spans and stop > begin:
            spans[-1] = (spans[-1][0], stop)
        elif stop > begin:
            carried = begin
    return spans


def tidy(text: str) -> str:
    """One space for every run of white space of any kind, none at the ends."""
    return " ".join(text.split())


def _all_library_ends(text: str, language: str) -> Iterable[int]:
    """The library's boundaries in a text of any length: what follows the last whole sentence of a piece is read
    again.
    """
    begin = 0
    while begin < len(text):
        piece = text[begin : begin + PIECE]
        *ends, end = _library_ends(piece, language)
        yield from (begin + end for end in ends)
        begin += ends[-1] if ends and begin + len(piece) < len(text) else end


def _library_ends(text: str, language: str) -> list[int]:
    import sentencex

    try:
        parts = sentencex.segment(language, text)
    except BaseException as error:  # a panic of the library is no Exception; the piece then stays one sentence
        if type(error).__name__ != "PanicException":
            raise
        return [len(text)]
    ends, position = [], 0
    for part in parts:
        position += len(part)
        ends.append(position)
    return ends if position == len(text) else [len(text)]


def _unspaced_ends(text: str, known: set[int]) -> Iterable[int]:
    """Where Thai and Lao phrases end, given the ends known already."""
    marks = sorted(known)
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
