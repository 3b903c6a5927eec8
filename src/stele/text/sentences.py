"""Split texts of every script into sentences: `sentencex` (Wikimedia) plus six rules for its errors and gaps.

sentencex is the best maintained library for our languages: it has rules for some 300 languages, preserves character
offsets, and splits about 100 MB/s. pysbd and blingfire are not maintained; splitters with a model are a thousand times
slower. The additional rules are:

1. sentencex gets the text without brackets and quotation marks. A closing sign stays with its opening sign, as do notes
   after it ([3], [2004]); a pair of at most LONGEST characters is not split; at the end of a quotation, a particle or a
   verb of saying shows that the sentence continues (`quotations.py`).
2. It lacks some full stops: those of Khmer and Tibetan, a CJK full stop before a Latin letter or digit, and the usual
   substitutes: ፡፡ and :: for the Ethiopic one, | and the numerator ৷ for a danda.
3. Thai and Lao have neither full stops nor spaces between words. A space ends a phrase, not always a sentence: we split
   at a space before a connective, and at any space between letters once the piece has PHRASE characters.
4. No boundary follows an abbreviation, an initial, an ordinal or a part of a date (`abbreviations.py`), and none
   precedes a small letter after a number, after at most four letters, or after a mark other than a full stop.
5. No boundary falls inside a protected span (the text of a link: "St. John").
6. It lacks boundaries before a number in languages whose ordinals have a full stop, and behind some common words, which
   it takes for abbreviations; a sign between two Hebrew letters is no quotation mark.

Quality, boundaries against XQuAD-R's sentence breaks (translated encyclopaedia prose), precision / recall:
ar 1.0/.97, de .99/.98, el .99/.97, en 1.0/.99, es .99/.95, hi 1.0/.97, ru .99/.98, tr .92/.94, vi 1.0/.95,
th .17/.82. XQuAD-R's breaks come from a program, too: zh has .94/.94 because they lack breaks before a digit; nearly
all breaks that ours lack in ar, es and tr follow initials and numerals ("II. | Elizabeth"); in th XQuAD-R's breaks
follow connectives (PyThaiNLP's crfcut has .21/.52 at a thousandth of the speed).
For news in 33 languages, and running text with dates and abbreviations in 28, see docs/kept.md.
The rules do not split short quotations of several sentences, and miss the end of a sentence after an initial or, in
German, after a day.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from stele.text.abbreviations import goes_on
from stele.text.quotations import Pair, goes_on_behind, is_particle, read_signs, split_at_signs

PHRASE = 20  # characters after which any space between Thai or Lao letters ends a piece
PIECE = 10_000  # most characters given to sentencex at once

# full stops that sentencex does not know: Khmer khan and bariyoosan, Tibetan shad; ideographic ones before Latin text;
# two Ethiopic word spaces or colons, and a bar or a Bengali numerator for a danda, as keyboards give them
_OWN_STOP = re.compile(
    "(?<![\u17d4\u17d5\u0f0d\u0f0e])[\u17d4\u17d5\u0f0d\u0f0e]++(?= *+[^ ])"
    "|(?<![\u3002\uff61\uff01\uff1f])[\u3002\uff61\uff01\uff1f]++(?= *+[A-Za-z0-9])"
    "|(?<=[\u1200-\u137c]) ?(?:\u1361{2,}|::)(?= *+[^ ])|(?<=[\u0900-\u0b7f]) ?(?:\\|{1,2}|\u09f7)(?= *+[^ |])"
)
# a note follows the sentence that it belongs to: [3], [2004], [note 1]
_NOTES = re.compile(r"(?: ?\[(?:\d[\d,;–—-]{0,30}|[a-z]|(?:note|nb|n) ?\d+|citation needed)\])+", re.I)
_NO_BEGINNING = frozenset(("", *",;:、，；：·・.!?。．！？｡،؛।॥৷۔؟።။"))  # no sentence begins with these
_UNSPACED_GAP = re.compile('(?<=[\u0e01-\u0e4e\u0e81-\u0ecd"”’)%0-9]) +(?=[\u0e01-\u0e4e\u0e81-\u0ecd"“‘(])')
_ODD = re.compile(  # a sign or letter of the two above, or "::", which is looked for apart, for speed
    "[|\u09f7\u0e01-\u0eb0\u0f0d\u0f0e\u1361\u17d4\u17d5\u3002\uff01\uff1f\uff61]"
)
_LETTER_GAP = re.compile("[\u0e01-\u0e4e\u0e81-\u0ecd] +[\u0e01-\u0e4e\u0e81-\u0ecd]")
# Thai connectives that begin a clause: which, in order to, however, because, by, while, when, besides, therefore,
# after ...
_CONNECTIVE = re.compile(
    "ซึ่ง|เพื่อ|อย่างไรก็|เนื่องจาก|โดย|ในขณะ|ขณะ|เมื่อ|นอกจาก|เพราะ|ดังนั้น|หลังจาก|ตัวอย่าง|แม้|ถึงแม้|ทำให้|ด้วยเหตุ|เช่น"
    "|ส่วน|ต่อมา|ก่อน|ตั้งแต่|จากนั้น|แล้ว|แต่|ได้แก่|ส่งผล"
)


def _stops(words: Iterable[str], following: str) -> re.Pattern[str]:
    """Compiles a pattern of full stops behind `words`, patterns of fixed length; it begins with the stop, for speed."""
    behind = "|".join(rf"(?<={word}{gap}\.)" for word in words for gap in ("", " "))
    return re.compile(rf"\.(?:{behind}) +(?={following})")


# with ordinals ("3."), sentencex ends no sentence before a number; a long word before it is no abbreviation
_ORDINALS = frozenset(("ca", "cs", "da", "de", "fi", "sk"))
_NUMBER_BEGINS = _stops([r"[^\W\d_]{2}(?!str)[^\W\d_]{3}"], r"\d")
# words that end sentences, and which sentencex takes for abbreviations
_NO_ABBREVIATIONS = {
    language: _stops([rf"\b{word}" for word in words.split()], "[A-ZÀ-ÖØ-Þ]")
    for language, words in {
        "en": "me no",
        "es": "bien mar no",
        "it": "AIDS CNN NATO ONU UE USA fa ha me no sa si su te va",
        "nl": "VS me",
        "no": "det med",
        "sv": "det hon med ut",
    }.items()
}
_SHORTEST = 10  # least characters of a piece before a connective splits it


def split_sentences(text: str, language: str, protected: Iterable[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """Spans [start, end) of the sentences of a paragraph, in order, without surrounding white space.

    The only white space in `text` must be single spaces (`tidy`). `language` is a code; an unknown one gets general
    rules. No boundary cuts a span in `protected`. A piece without letters or digits joins the sentence before it (at
    the start: the one after it); a text without any has no sentence.

    >>> split_sentences("Dr. Ames left. He came back.", "en")
    [(0, 14), (15, 28)]
    """
    ends = _ends(text, language)
    if protected := {place for start, stop in protected for place in range(start + 1, stop)}:
        ends = [end for end in ends if end not in protected]
    if not ends:
        return [(0, len(text))] if any(map(str.isalnum, text)) else []
    spans: list[tuple[int, int]] = []
    start, carried = 0, -1  # `carried`: start of signs that belong to the next sentence
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
    """Replaces each run of white space by one space, and removes it at the ends."""
    return " ".join(text.split())


def _ends(text: str, language: str) -> list[int]:
    """Positions inside the text where a sentence ends, after its following white space; ascending."""
    odd = not text.isascii() and (_ODD.search(text) is not None or "::" in text)
    parts = split_at_signs(text)
    if len(parts) == 1:
        ends = [end for end in _library_ends(text, language) if not goes_on(text, end, language)]
        if odd:
            ends = sorted({*ends, *(stop + (text[stop] == " ") for stop in _own_stops(text))})
            ends = sorted({*ends, *_unspaced_ends(text, ends)})
        return ends
    plain = " ".join(parts[::2])  # sentencex gets no signs; here they shift or cancel its boundaries
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
    """Positions where sentences end, ascending, given the positions of full stops and the signs of the text."""
    ends: list[int] = []
    following = seen = 0  # index of the pair that ends next; position up to which letters were searched
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
    pieces, position = [], 0
    for start, end in regions:
        pieces += (plain[position:start], " " * (end - start))
        position = end
    return "".join([*pieces, plain[position:]])


def _own_stops(plain: str) -> list[int]:
    return [match.end() for match in _OWN_STOP.finditer(plain)]


def _behind_text(plain: str, end: int) -> int:
    """Position where the white space before `end` begins."""
    while end and plain[end - 1] == " ":
        end -= 1
    return end


def _behind_closers(text: str, end: int, signs: dict[int, int]) -> tuple[int, int]:
    """Skips closing signs at `end` and notes after them. Returns (the new end, position of the last sign or -1)."""
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
    """Whether a bracket at `place` opens an insertion after which the sentence continues: Acme Inc. (Ohio) makes."""
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
    """Yields the ends, which ascend, that are not inside a pair."""
    number = 0
    for end in ends:
        while number < len(pairs) and pairs[number][1] <= end:
            number += 1
        if number == len(pairs) or end <= pairs[number][0]:
            yield end


def _library_ends(text: str, language: str) -> list[int]:
    """Boundaries of sentencex inside a text of any length, read in pieces: the next piece begins after the last
    complete sentence of the piece before it.
    """
    text = text.replace('"', "\u05f4")  # in two Hebrew abbreviations, which would be a quotation
    ends = [match.end() for match in _NUMBER_BEGINS.finditer(text)] if language in _ORDINALS else []
    if words := _NO_ABBREVIATIONS.get(language):
        ends += [match.end() for match in words.finditer(text)]
    if len(text) <= PIECE:
        return sorted({*_ends_in_piece(text, language)[:-1], *ends})
    begin = 0
    while begin < len(text):
        piece = text[begin : begin + PIECE]
        *inside, end = _ends_in_piece(piece, language)
        ends += [begin + position for position in inside]
        begin += inside[-1] if inside and begin + len(piece) < len(text) else end
    return sorted({*ends})


def _ends_in_piece(text: str, language: str) -> list[int]:
    import sentencex

    try:
        parts = sentencex.segment(language, text)
    except BaseException as error:  # a panic of sentencex is no Exception; the piece then stays whole
        if type(error).__name__ != "PanicException":
            raise
        return [len(text)]
    ends = list(accumulate(map(len, parts)))
    return ends if ends and ends[-1] == len(text) else [len(text)]


def _unspaced_ends(text: str, marks: Sequence[int]) -> Iterable[int]:
    """Yields the positions where Thai and Lao phrases end, ascending; `marks` are the boundaries found before."""
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
