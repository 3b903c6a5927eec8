"""Recognise full stops and other marks that do not end a sentence: abbreviations, initials, ordinals, dates.

Before a small letter, an abbreviation is recognised by its length. Before a capital, a number or a letter of a script
without case it must be listed (catalogue/sentences.yaml, and below those that precede a number in every language).
"""

from __future__ import annotations

import re
from functools import cache

from stele.text.quotations import CLOSING, OPENING, sentence_words

LONGEST = 4  # most letters of an abbreviation that is recognised before a small letter without a list


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# abbreviations before a number, in every language
_NUMBERED = _words(
    """
    no nr nos nrs n núm num p pp s pag pagg pág págs blz vol vols fig figs abb tab cap chap ch kap rozdz hfst art
    sec séc op ca ok aprox approx env kb yakl v c t bd stk rys gbr hlm hal bil tr bkz uk na tar tgl см рис табл гл с
    стр ст п т ок cf ks luku
    """
)
# Latin numerals and numbers as ordinals, also before a capital: "19. Jahrhundert", "II. Mehmed"
_ORDINAL = {
    "de": re.compile(r"[0-9]{1,2}"),
    "hu": re.compile(r"[0-9]{1,2}|[IVXL]+"),
    "tr": re.compile(r"[0-9]{1,2}|[IVXL]+"),
}
_ROMAN = re.compile(r"[IVXLC]+(?!\w)")
_NUMERAL = re.compile(r"[-–]?\d+|[IVXLCDM]+")
_YEAR = re.compile(r"\d{4}(?!\d)")
_DAY = re.compile(r"\d{1,2}\.")  # or a month
# scripts that end a sentence with another sign (danda, khan, ።, 。) or with a space: a full stop there abbreviates
_OTHER_STOP = re.compile(
    "[\u0980-\u09ff\u0e00-\u0fff\u1000-\u109f\u1200-\u137f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
# a letter, with its signs, of scripts without capitals that write initials: Hebrew, Arabic, Telugu
_INITIAL = re.compile("[\u05d0-\u05ea\u0620-\u064a\u0c05-\u0c39][\u064b-\u0652\u0c3e-\u0c4d]*")
_NO_INITIALS = "IVXÝ"  # numerals, and the Vietnamese name of Italy
_INITIALS_KNOWN = ("en",)  # the library tells them from "Linear B." by the word that follows
_HANGUL = re.compile("[\uac00-\ud7a3]")
_CLOSERS = CLOSING + "“‘«‹"  # as in German and Danish
_OPENERS = OPENING + "”’¿¡–—- "
_WIDE = "\u3001-\u30ff\u3400-\u9fff\uff00-\uffef"
_GERSHAYIM = '(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])'  # within a Hebrew abbreviation
_WORD = re.compile(rf"(?:[^\s\"'“„‘‚«‹(\[\]/–—{_WIDE}-]|{_GERSHAYIM})+$|[{_WIDE}]+$")
_DAY_AND_MONTH = re.compile(r"\b\d{1,2}\.? [^\W\d_]{3,5}$")


def goes_on(text: str, end: int, language: str) -> bool:
    """Whether the sentence continues after text[:end], although this ends with a mark that can end a sentence.

    >>> goes_on("Az 1949. évi", 9, "hu"), goes_on("Dr. Ames", 4, "en"), goes_on("It was late. He left.", 13, "en")
    (True, True, False)
    """
    before = text[max(0, end - 32) : end].rstrip()
    after = text[end : end + 8]
    head = before.rstrip(_CLOSERS)
    following = after.lstrip(_OPENERS)[:1]
    small = following.islower() and all(map(_has_case, filter(str.isalpha, head + following)))
    if not head.endswith("."):
        return small and head[-1:] in ("?", "!", "…")
    if small and (len(head) < len(before) or head.endswith("..")):
        return True
    word = head[head.rfind(" ") + 1 : -1]
    if not (word.isalnum() and max(word) < "\u3001"):
        word = match.group() if (match := _WORD.search(word)) else ""
    last = word.rpartition(".")[2]
    if not last:
        return False
    if small:
        return _letters(last) <= LONGEST or _NUMERAL.fullmatch(last) is not None
    if text[end - 1] == "." and after[:1] and _joined(last, after):
        return True
    if last.lower() in _NUMBERED and (following.isdigit() or _ROMAN.match(after.lstrip())):
        return True
    if following.isdigit() and _is_date(head[:-1], last, after.lstrip()):
        return True
    return _before_name(word, last, following, language)


def _has_case(letter: str) -> bool:
    """Whether a letter's script begins sentences with capitals, which Georgian does not."""
    return letter.lower() != letter.upper() and not "\u10d0" <= letter <= "\u10ff"


def _letters(word: str) -> int:
    """Number of letters in a word, without vowel signs and other marks; 0 for a number."""
    return sum(map(str.isalpha, word))


def _joined(last: str, after: str) -> bool:
    """Whether a full stop without a space after it is inside an abbreviation or a number: a.C., J.-C., ২.৫."""
    if after[0].isdigit():
        return last[-1].isdigit() or _letters(last) <= LONGEST
    return (after[0] == "-" or after[0].isalpha()) and 0 < _letters(last) <= LONGEST


def _is_date(before: str, last: str, after: str) -> bool:
    """Whether a full stop is between the parts of a date: 6. 12. 1900, 6 déc. 1900."""
    if _YEAR.match(after) and _DAY_AND_MONTH.search(before):
        return True
    followed_by_year = len(last) <= 2 and _YEAR.match(after)
    return last.isdigit() and bool(followed_by_year or _DAY.match(after))


@cache
def _abbreviations(language: str) -> frozenset[str]:
    return _words(sentence_words(language).abbreviations)


def _before_name(word: str, last: str, following: str, language: str) -> bool:
    listed = _abbreviations(language)
    if last.lower() in listed or word.lower() in listed:
        return True
    if following.isupper():
        if len(word) == 1 and word.isupper() and word not in _NO_INITIALS and language not in _INITIALS_KNOWN:
            return True
        return language in _ORDINAL and _ORDINAL[language].fullmatch(last) is not None
    if _OTHER_STOP.match(last) or _OTHER_STOP.match(following):
        return _letters(last) <= LONGEST
    return bool(_INITIAL.fullmatch(word) or (last.isdigit() and _HANGUL.match(following)))
