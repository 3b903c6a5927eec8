"""How many pairs two methods have in common, from a sketch of each: the smallest hashes of its pairs.

The smallest hashes of two sets together are a random sample of their union, and how many of them both have is the share
of the union that both have (bottom-k sketches; Cohen and Kaplan 2007). Up to SIZE pairs the count is exact. Which side
is the query plays no part, nor do case and white space.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from stele.files.reading import reading

SKETCH = "sketch.npy"  # beside the record of `pairs knowledge_pairs`: uint64, ascending
SIZE = 4096  # hashes: an overlap of half the pairs is then told to 2 % of them


def sketch(pairs: Iterable[tuple[str, str]], before: np.ndarray | None = None) -> np.ndarray:
    """uint64 [at most SIZE], ascending: the smallest hashes of pairs of texts, and of those that came `before`."""
    hashes = np.fromiter((_hash(*pair) for pair in pairs), np.uint64)
    return np.unique(hashes if before is None else np.concatenate([before, hashes]))[:SIZE]


def _hash(*texts: str) -> int:
    text = "\n".join(sorted(text.lower().replace(" ", "") for text in texts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def read_sketch(record: Path) -> np.ndarray:
    """The sketch beside a record of `pairs knowledge_pairs`."""
    with reading(record.parent / SKETCH, "array", "mine these pairs again"):
        return np.load(record.parent / SKETCH, allow_pickle=False)


def shared(sketches: Sequence[np.ndarray], sizes: Sequence[int]) -> int:
    """How many pairs two methods share, of their sketches and numbers of pairs: about, where they have over SIZE."""
    both = np.intersect1d(*sketches, assume_unique=True)
    if all(len(hashes) < SIZE for hashes in sketches):
        return len(both)
    union = np.union1d(*sketches)[:SIZE]
    share = np.isin(union, both).sum() / len(union)
    return round(share / (1 + share) * sum(sizes))
