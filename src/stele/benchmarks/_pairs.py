"""Benchmarks of aligned texts: line i of one language and line i of the other say the same.

A pair is called `de-en`; its searches are `de-en` (German texts look for English ones) and `en-de`.
"""

from __future__ import annotations

from collections.abc import Sequence

from stele.benchmarks.types import Search
from stele.errors import SteleError


def searches(languages: Sequence[str]) -> list[Search]:
    """Both directions of every pair, the pair's own first."""
    found = []
    for pair in languages:
        first, dash, second = pair.partition("-")
        if not (first and dash and second) or first == second:
            raise SteleError(f"{pair!r}: want a pair of languages, as de-en")
        found += [Search(pair, pair, second), Search(f"{second}-{first}", pair, first)]
    return found
