"""Folds of topics for cross-validation: five by a hash of the topics' ids, or those that a file lists."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from stele.errors import SteleError
from stele.files.reading import reading

FOLDS = 5  # Shi et al., section 5; Yu et al., section 5.1.3


def folds_by_hash(topics: Sequence[str], key: str = "") -> dict[str, int]:
    """Deals topics out to five folds (topic -> 0 to 4) in the order of their hashes; sizes differ by 1 at most.

    The `key` is hashed before each topic: another key gives other folds. Raises SteleError for fewer than five topics.

    >>> sorted(folds_by_hash(["a", "b", "c", "d", "e", "f"]).values())
    [0, 0, 1, 2, 3, 4]
    """
    _check_number(topics)
    order = sorted(topics, key=lambda topic: hashlib.sha256(f"{key}{topic}".encode()).digest())
    fold_of = {topic: place % FOLDS for place, topic in enumerate(order)}
    return {topic: fold_of[topic] for topic in topics}


def read_folds(path: Path, topics: Sequence[str]) -> dict[str, int]:
    """Reads the fold of each topic from lines `topic fold`; folds are numbered in the order of their names.

    Raises SteleError for a line of another form, a topic without a fold or with two, and fewer than two folds.
    """
    _check_number(topics)
    names: dict[str, str] = {}
    with reading(path, "folds"), open(path, encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if columns := line.split():
                if len(columns) != 2 or columns[0] in names:
                    problem = "appears twice" if len(columns) == 2 else "want two columns, topic and fold"
                    raise SteleError(f"{path}, line {number}: {columns[0]}: {problem}")
                names[columns[0]] = columns[1]
    if lacking := [topic for topic in topics if topic not in names]:
        raise SteleError(f"{path}: {len(lacking)} topics have no fold, for example {lacking[0]!r}; add a line for each")
    numbers = {name: number for number, name in enumerate(sorted({names[topic] for topic in topics}))}
    if len(numbers) < 2:
        raise SteleError(f"{path}: want topics in two folds or more, found one")
    return {topic: numbers[names[topic]] for topic in topics}


def _check_number(topics: Sequence[str]) -> None:
    if len(topics) < FOLDS:
        raise SteleError(f"cross-validation has {FOLDS} folds: want {FOLDS} topics or more, found {len(topics)}")
