"""The Unicode bidirectional algorithm (UAX #9) for one label: the direction in which its characters run.

A label's own direction is that of its first letter, as with `dir=auto` in HTML. Embeddings and isolates are not
implemented, since no output holds such characters (stele.files.formats).
"""

import unicodedata
from itertools import groupby

STRONG = {"L": "L", "R": "R", "EN": "R", "AN": "R"}  # direction of neighbours for neutral characters (rule N1)
NEUTRAL = {"B", "S", "WS", "ON"}
BRACKETS = dict(zip("([{〈《「『【", ")]}〉》」』】", strict=True))
MIRRORED = {"<": ">", "«": "»", **BRACKETS}
MIRRORED |= {closing: opening for opening, closing in MIRRORED.items()}


def runs_leftwards(text: str) -> bool:
    """Whether a text holds letters of a script that is written from right to left."""
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


def levels(text: str) -> list[int]:
    """The embedding level of each character: odd ones run leftwards.

    >>> levels("a-b"), levels("אב 7-8"), levels("a אב")
    ([0, 0, 0], [1, 1, 1, 2, 2, 2], [0, 0, 1, 1])
    """
    kinds = [unicodedata.bidirectional(char) or "L" for char in text]
    base = next((int(kind != "L") for kind in kinds if kind in ("L", "R", "AL")), 0)
    base_kind = "R" if base else "L"
    kinds = _neutrals(_brackets(text, _weak(kinds, base_kind), base_kind), base_kind)
    above = {"L": (0, 1), "R": (1, 0), "EN": (2, 1), "AN": (2, 1)}
    levels_found = [base + above[kind][base] for kind in kinds]
    return levels_found[: len(text.rstrip())] + [base] * (len(text) - len(text.rstrip()))  # rule L1


def _weak(kinds: list[str], base_kind: str) -> list[str]:
    """Applies rules W1 to W7, for marks, numbers and the signs around them."""
    strong, before, resolved = base_kind, base_kind, []
    for kind in kinds:
        kind = before if kind in ("NSM", "BN") else kind
        strong = kind if kind in ("L", "R", "AL") else strong
        before = "AN" if kind == "EN" and strong == "AL" else kind
        resolved.append(before)
    kinds = ["R" if kind == "AL" else kind for kind in resolved]
    for i in range(1, len(kinds) - 1):
        before, kind, after = kinds[i - 1 : i + 2]
        if before == after and ((kind == "CS" and before in ("EN", "AN")) or (kind == "ES" and before == "EN")):
            kinds[i] = before
    for start, run in _stretches(kinds):
        around = {kinds[i] for i in (start - 1, start + len(run)) if 0 <= i < len(kinds)}
        if run[0] in ("ET", "ES", "CS"):
            kinds[start : start + len(run)] = ["EN" if run[0] == "ET" and "EN" in around else "ON"] * len(run)
    strong = base_kind
    for i, kind in enumerate(kinds):
        strong = kind if kind in ("L", "R") else strong
        kinds[i] = "L" if kind == "EN" and strong == "L" else kind
    return kinds


def _stretches(kinds: list[str]) -> list[tuple[int, list[str]]]:
    """Splits kinds into stretches of one kind, each with its start."""
    stretches, place = [], 0
    for _, stretch in groupby(kinds):
        stretches.append((place, same := list(stretch)))
        place += len(same)
    return stretches


def _brackets(text: str, kinds: list[str], base_kind: str) -> list[str]:
    """Applies rule N0: a pair of brackets runs as the text within it, or as the text before it."""
    kinds, waiting, pairs = list(kinds), [], []
    for place, char in enumerate(text):
        if char in BRACKETS and kinds[place] == "ON":
            waiting.append((BRACKETS[char], place))
        elif (place_of := next((i for i, (closing, _) in reversed([*enumerate(waiting)]) if closing == char), -1)) >= 0:
            pairs.append((waiting[place_of][1], place))
            del waiting[place_of:]
    for opening, closing in sorted(pairs):
        inside = {STRONG[kind] for kind in kinds[opening + 1 : closing] if kind in STRONG}
        before = next((STRONG[kind] for kind in reversed(kinds[:opening]) if kind in STRONG), base_kind)
        if inside:
            kind = before if before in inside and base_kind not in inside else base_kind
            kinds[opening] = kinds[closing] = kind
    return kinds


def _neutrals(kinds: list[str], base_kind: str) -> list[str]:
    """Applies rules N1 and N2: characters without a direction run as both neighbours, else as the whole text."""
    kinds = list(kinds)
    for is_neutral, run in groupby(range(len(kinds)), key=lambda i: kinds[i] in NEUTRAL):
        places = list(run)
        if is_neutral:
            before = STRONG[kinds[places[0] - 1]] if places[0] else base_kind
            after = STRONG[kinds[places[-1] + 1]] if places[-1] + 1 < len(kinds) else base_kind
            for place in places:
                kinds[place] = before if before == after else base_kind
    return kinds
