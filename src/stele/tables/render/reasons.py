"""Reasons for people: texts that differ in numbers or in one word are said once, without paths of files."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Rows = TypeVar("Rows", bound=Hashable)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PATH = re.compile(r"\S*/(\S+\.(?:parquet|json|csv))")


def merged(texts: Iterable[str]) -> list[str]:
    """The texts with alike ones as one: numbers that differ become a range, and words at one place a list.

    >>> merged(["no vectors of de-es", "no vectors of de-fr", "a loss of 4.7", "a loss of 18.3"])
    ['no vectors of de-es, de-fr', 'a loss of 4.7 to 18.3']
    """
    groups: list[list[list[str]]] = []
    for text in dict.fromkeys(texts):
        words = text.split(" ")
        group = next((group for group in groups if _alike([*group, words])), None)
        if group is None:
            groups.append([words])
        else:
            group.append(words)
    return [" ".join(map(_word, zip(*group, strict=True))) for group in groups]


def by_rows(reasons: Mapping[str, Rows]) -> dict[str, Rows]:
    """Reason -> rows, with the alike reasons of the same rows as one."""
    together: dict[Rows, list[str]] = {}
    for reason, rows in reasons.items():
        together.setdefault(rows, []).append(reason)
    return {reason: rows for rows, texts in together.items() for reason in merged(texts)}


def without_paths(text: str) -> str:
    """An error without the paths of files: rows are named beside it.

    >>> without_paths("results/a/queries.parquet: lacks 8 queries that results/b/queries.parquet has")
    'lacks 8 queries that the other has'
    """
    text = re.sub(rf"(^|: ){_PATH.pattern}: ", r"\1", text)
    return _PATH.sub(r"\1", re.sub(rf"that {_PATH.pattern} has", "that the other has", text))


def _alike(group: list[list[str]]) -> bool:
    """Whether texts have as many words and differ, but for numbers, at one place at most, which is not the first."""
    if len({len(words) for words in group}) > 1:
        return False
    shapes = [{_NUMBER.sub("0", word) for word in words} for words in zip(*group, strict=True)]
    different = [place for place, shape in enumerate(shapes) if len(shape) > 1]
    return len(different) <= 1 and 0 not in different


def _first(values: list[str]) -> float:
    return float(values[0])


def _word(words: Iterable[str]) -> str:
    """One place of some texts: the word, the range of its number, or a list of the words."""
    different = list(dict.fromkeys(words))
    values = [_NUMBER.findall(word) for word in different]
    if len(different) > 1 and len({_NUMBER.sub("0", word) for word in different}) == 1 and len(values[0]) == 1:
        lowest, highest = min(values, key=_first)[0], max(values, key=_first)[0]
        return different[0].replace(values[0][0], f"{lowest} to {highest}")
    return ", ".join(different)
