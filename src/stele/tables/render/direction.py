"""The Unicode bidirectional algorithm (UAX #9) for one label: the direction in which its characters run.

A label's own direction is that of its first letter, as with `dir=auto` in HTML. Embeddings and isolates are not
implemented, since no output holds such characters (stele.files.formats).
"""

import re
import unicodedata

# letters for the classes that the rules tell apart: marks M, terminators T and separators S, C of numbers; O: neutral
CLASSES = {"L": "L", "R": "R", "AL": "A", "EN": "E", "AN": "N", "NSM": "M", "BN": "M", "ET": "T", "ES": "S", "CS": "C"}
STRONG = {"L": "L", "R": "R", "E": "R", "N": "R"}  # direction of neighbours for neutral characters (rule N1)
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
    kinds = "".join(CLASSES.get(unicodedata.bidirectional(char) or "L", "O") for char in text)
    base = next((int(kind != "L") for kind in kinds if kind in "LRA"), 0)
    base_kind = "R" if base else "L"
    kinds = _neutrals(_brackets(text, _weak(kinds, base_kind), base_kind), base_kind)
    above = {"L": (0, 1), "R": (1, 0), "E": (2, 1), "N": (2, 1)}
    levels_found = [base + above[kind][base] for kind in kinds]
    return levels_found[: len(text.rstrip())] + [base] * (len(text) - len(text.rstrip()))  # rule L1


def _weak(kinds: str, base_kind: str) -> str:
    """Applies rules W1 to W7, for marks, numbers and the signs around them; `kinds` has a letter for each character."""
    kinds = re.sub("(.)M+", lambda run: run[1] * len(run[0]), base_kind + kinds)
    kinds = re.sub("A[^LR]*", lambda run: run[0].replace("E", "N"), kinds)
    kinds = kinds.replace("A", "R")
    kinds = re.sub("(?<=E)[SC](?=E)", "E", re.sub("(?<=N)C(?=N)", "N", kinds))
    kinds = re.sub("T+(?=E)|(?<=E)T+", lambda run: "E" * len(run[0]), kinds)
    kinds = re.sub("[TSC]", "O", kinds)
    kinds = re.sub("L[^LR]*", lambda run: run[0].replace("E", "L"), kinds)
    return kinds[1:]


def _brackets(text: str, kinds: str, base_kind: str) -> str:
    """Applies rule N0: a pair of brackets runs as the text within it, or as the text before it."""
    resolved, waiting, pairs = list(kinds), [], []
    for place, char in enumerate(text):
        if char in BRACKETS:
            waiting.append((BRACKETS[char], place))
        elif (place_of := next((i for i, (closing, _) in reversed([*enumerate(waiting)]) if closing == char), -1)) >= 0:
            pairs.append((waiting[place_of][1], place))
            del waiting[place_of:]
    for opening, closing in sorted(pairs):
        inside = {STRONG[kind] for kind in resolved[opening + 1 : closing] if kind in STRONG}
        before = next((STRONG[kind] for kind in reversed(resolved[:opening]) if kind in STRONG), base_kind)
        if inside:
            kind = before if before in inside and base_kind not in inside else base_kind
            resolved[opening] = resolved[closing] = kind
    return "".join(resolved)


def _neutrals(kinds: str, base_kind: str) -> str:
    """Applies rules N1 and N2: characters without a direction run as both neighbours, else as the whole text."""
    around = base_kind + kinds + base_kind

    def resolved(run: re.Match[str]) -> str:
        before, after = STRONG[around[run.start() - 1]], STRONG[around[run.end()]]
        return (before if before == after else base_kind) * len(run[0])

    return re.sub("O+", resolved, around)[1:-1]
