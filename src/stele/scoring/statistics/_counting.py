"""Counting items that are streamed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from stele.progress import track


def number_of(items: Iterable, what: str) -> int:
    """How many items there are, with a line now and then of how far the counting has come."""
    return sum(1 for _ in track(items, None, f"count {what}"))


def by_language(languages: Iterable[str], what: str) -> dict[str, int]:
    """How often each language comes."""
    return dict(Counter(track(languages, None, f"count {what}")))


def present(counted: Mapping[str, int]) -> int:
    """How many languages have anything."""
    return sum(1 for number in counted.values() if number)
