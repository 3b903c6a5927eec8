"""BM25 without an index: the reference of the tests."""

import math
from collections import Counter

import numpy as np


def by_hand(texts: dict[str, str], query: list[str], k1: float, b: float) -> list[tuple[str, float]]:
    """A full ranking in canonical order, document by document."""
    counts = {name: Counter(text.split()) for name, text in texts.items()}
    frequency = Counter(term for one in counts.values() for term in one)
    size, mean = len(texts), sum(one.total() for one in counts.values()) / len(texts)
    scores = {}
    for name, one in counts.items():
        norm = k1 * (1 - b + b * one.total() / mean)
        idf = {t: math.log(1 + (size - frequency[t] + 0.5) / (frequency[t] + 0.5)) for t in query}
        scores[name] = np.float32(sum(idf[t] * one[t] / (one[t] + norm) for t in query))
    return sorted(((n, s) for n, s in scores.items() if s > 0), key=lambda hit: (hit[1], hit[0].encode()), reverse=True)
