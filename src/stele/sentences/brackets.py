"""Brackets and quotation marks of every script: which of them opens, which closes, and what they enclose.

Brackets open and close by their category in Unicode (Ps, Pe). Quotation marks do not: German closes with the sign that
English opens with, Danish turns »…«, Finnish has ”…” and keyboards "…". Which a sign does shows in the white space
around it; where both sides have letters or neither (scripts without spaces, Korean particles) in the sign that is open,
else by its category (Pi, Pf).
"""

from __future__ import annotations

import re
import unicodedata

LONGEST, LONGEST_WIDE = 200, 80  # characters (Chinese, Japanese) of a pair that stays whole; a longer one is split
_FAMILIES = ('"＂“”„‟〝〞〟', "'＇‘’‚‛", "«»", "‹›", "﴾﴿")  # quotation marks that open and close one another
QUOTES = frozenset("".join(_FAMILIES))
_LEFT_ONLY = frozenset("“‘«‹")  # when they open, the sign on the right closes
_FREE_AFTER = frozenset(("", *".,;:!?…%)]}、。，．；：！？｡؟،؛।॥۔"))
_FREE_BEFORE = frozenset(("", *"([{¿¡—–-/（［｛"))
_STOPS = frozenset(".!?…")
_WIDE = re.compile("[\u3040-\u9fff]")
_LETTER = (
    "[^\\W\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u9fff\uac00-\ud7a3]"  # of scripts with spaces
)
_APOSTROPHE = f"(?<={_LETTER})['’](?={_LETTER})"
_GERSHAYIM = '(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])'  # in a Hebrew abbreviation


def _families_and_roles() -> dict[str, tuple[str, str]]:
    """sign -> (its family, "(" for one that opens, ")" for one that closes, "" for one that can do both)."""
    signs: dict[str, tuple[str, str]] = {}
    opener = ""
    for code in range(0x10000):
        category = unicodedata.category(sign := chr(code))
        if category in ("Ps", "Pi"):
            opener = sign
            signs[sign] = opener, "("
        elif category in ("Pe", "Pf"):
            signs[sign] = opener, ")"
    signs |= {right: (left, ")") for left, right in ("[]", "{}", "［］", "｛｝")}
    return signs | {sign: (family, signs.get(sign, ("", ""))[1]) for family in _FAMILIES for sign in family}


_SIGNS = _families_and_roles()
OPENING = "".join(sign for sign, (_, role) in _SIGNS.items() if role != ")")
CLOSING = "".join(sign for sign, (_, role) in _SIGNS.items() if role != "(")
_ANY = re.compile(f"([{re.escape(''.join(_SIGNS))}])(?<!{_APOSTROPHE})(?<!{_GERSHAYIM})")
_ANY_ASCII = re.compile(f"([\"'()\\[\\]{{}}])(?<!{_APOSTROPHE})")


_NUMBERS = {family: number for number, family in enumerate(dict.fromkeys(family for family, _ in _SIGNS.values()))}
_KINDS = {sign: (_NUMBERS[family], role, family in _FAMILIES) for sign, (family, role) in _SIGNS.items()}

Pair = tuple[int, int]  # text[start] opens what text[end - 1] closes


def split_at_signs(text: str) -> list[str]:
    """What stands between signs and the signs, in turn; an apostrophe within a word is no sign.

    >>> split_at_signs("He's (in)")
    ["He's ", '(', 'in', ')', '']
    """
    return (_ANY_ASCII if text.isascii() else _ANY).split(text)


def read_signs(text: str, parts: list[str]) -> tuple[list[Pair], dict[int, int]]:
    """(the outermost pairs of at most LONGEST characters, place of each sign -> place of the sign that it closes), in
    order and in linear time. A sign that opens has its own place, one that closes nothing -1.

    >>> read_signs("He's (in)]", split_at_signs("He's (in)]"))
    ([(5, 9)], {5: 5, 8: 5, 9: -1})
    """
    places: dict[int, int] = {}
    pairs: list[Pair] = []
    opened: list[Pair] = []  # (family, place) of signs that wait for their partner
    waiting = [0] * len(_NUMBERS)  # how many of each family
    last = [0] * len(_NUMBERS)  # where the last sign of each family opened
    place = -1
    for number in range(1, len(parts), 2):
        place += len(parts[number - 1]) + 1
        family, role, is_quote = _KINDS[parts[number]]
        if is_quote:
            closes = waiting[family] and text[last[family]] not in _LEFT_ONLY
            role = _role_of_quote(parts, number) or (")" if closes else role or "(")
            if role == "(" and waiting[family]:  # none stands within another of its family: that one was never closed
                _close(opened, waiting, family)
        if role == "(":
            places[place] = last[family] = place
            opened.append((family, place))
            waiting[family] += 1
        elif waiting[family]:
            places[place] = start = _close(opened, waiting, family)
            if place - start <= (LONGEST_WIDE if _WIDE.match(text, start + 1) else LONGEST):
                while pairs and pairs[-1][0] > start:
                    pairs.pop()
                pairs.append((start, place + 1))
        else:
            places[place] = -1
    return pairs, places


def _close(opened: list[Pair], waiting: list[int], family: int) -> int:
    """Where the last open sign of a family stands; it and those opened since are open no more."""
    while True:
        last, start = opened.pop()
        waiting[last] -= 1
        if last == family:
            return start


def _role_of_quote(parts: list[str], number: int) -> str:
    """What the white space around a quotation mark, and a few others beside it, says of it: "(", ")" or nothing."""
    before, after = parts[number - 1][-1:], parts[number + 1][:1]
    near = number - 2
    while not before and near > 0:
        before = parts[near - 1][-1:] if parts[near] in QUOTES and near > number - 8 else parts[near]
        near -= 2
    near = number + 2
    while not after and near < len(parts):
        after = parts[near + 1][:1] if parts[near] in QUOTES and near < number + 8 else parts[near]
        near += 2
    free_before = before in _FREE_BEFORE or before == " "
    free_after = after in _FREE_AFTER or after == " "
    if free_before == free_after:
        return ")" if before in _STOPS and "\uac00" <= after <= "\ud7a3" else ""  # before a Korean particle
    return "(" if free_before else ")"
