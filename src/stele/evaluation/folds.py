"""Folds of topics for cross-validation: five by a hash of the topics' ids."""

import hashlib
from collections.abc import Sequence

from stele.errors import SteleError

FOLDS = 5  # Shi et al., section 5; Yu et al., section 5.1.3


def folds_by_hash(topics: Sequence[str], key: str = "") -> dict[str, int]:
    """Deals topics out to five folds (topic -> 0 to 4) in the order of their hashes; sizes differ by 1 at most.

    The `key` is hashed before each topic: another key gives other folds. Raises SteleError for fewer than five topics.

    >>> sorted(folds_by_hash(["a", "b", "c", "d", "e", "f"]).values())
    [0, 0, 1, 2, 3, 4]
    """
    if len(topics) < FOLDS:
        raise SteleError(f"cross-validation has {FOLDS} folds: want {FOLDS} topics or more, found {len(topics)}")
    order = sorted(topics, key=lambda topic: hashlib.sha256(f"{key}{topic}".encode()).digest())
    fold_of = {topic: place % FOLDS for place, topic in enumerate(order)}
    return {topic: fold_of[topic] for topic in topics}
