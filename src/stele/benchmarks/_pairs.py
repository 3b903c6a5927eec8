"""Benchmarks of aligned texts: line i of one language and line i of the other say the same.

A pair is called `de-en`; its query sets are `de-en` (German texts look for English ones) and `en-de`.

Where they are ranked by us, the rules are those of LASER's `IndexSearchMultiple` (source/lib/indexing.py): the nearest
neighbour by cosine, the lowest line among equals. A run puts equal scores in descending order of their ids, so passage
ids count down from the end: the first line has the highest id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stele.benchmarks.types import Passage, Query, QuerySet
from stele.errors import SteleError


def query_sets(languages: Sequence[str]) -> list[QuerySet]:
    """Both directions of every pair, the pair's own first."""
    both = []
    for pair in languages:
        first, second = sides(pair)
        both += [QuerySet(pair, pair, second), QuerySet(f"{second}-{first}", pair, first)]
    return both


def sides(pair: str) -> tuple[str, str]:
    """The two languages of a pair.

    >>> sides("de-en")
    ('de', 'en')
    """
    first, dash, second = pair.partition("-")
    if not (first and dash and second) or first == second:
        raise SteleError(f"{pair!r}: want a pair of languages, as de-en")
    return first, second


def queries(texts: Sequence[str]) -> Iterator[Query]:
    """The lines of the searching side; a query's id is its line number from 0."""
    return (Query(f"{number:04d}", text) for number, text in enumerate(texts))


def passages(texts: Sequence[str]) -> Iterator[Passage]:
    """The lines of the side that is searched."""
    return (Passage(_passage_id(number, len(texts)), "", text) for number, text in enumerate(texts))


def judgments(size: int) -> dict[str, dict[str, int]]:
    """Query id -> {id of the same line on the other side: 1}, for sides of so many lines."""
    return {f"{number:04d}": {_passage_id(number, size): 1} for number in range(size)}


def _passage_id(number: int, size: int) -> str:
    return f"{size - 1 - number:04d}"
