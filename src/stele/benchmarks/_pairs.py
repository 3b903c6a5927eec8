"""Benchmarks of aligned texts: line i of one language and line i of the other say the same.

A pair is called `de-en`; its query sets are `de-en` (German texts look for English ones) and `en-de`.
"""

from __future__ import annotations

from collections.abc import Sequence

from stele.benchmarks.types import QuerySet
from stele.errors import SteleError


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """Both directions of every pair, the pair's own first."""
    both = []
    for pair in languages:
        first, dash, second = pair.partition("-")
        if not (first and dash and second) or first == second:
            raise SteleError(f"{pair!r}: want a pair of languages, as de-en")
        both += [QuerySet(pair, pair, second), QuerySet(f"{second}-{first}", pair, first)]
    return both
