"""Two rankings of a topic as one: a * S_term + (1 - a) * S_dense, for every a at once (Shi et al., section 3).

A document that a list lacks has 0 there (section 5), so that of two documents that term matching lacks one with a
negative dense score stands below one that dense retrieval lacks too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from stele.artifacts.run import Hits

ALPHAS = np.arange(101) / 100  # the weight of term matching; the paper does not say which were tried
DIGITS = 4  # of the mean AP that a weight is chosen by


class Candidates(NamedTuple):
    """The documents of either list, in the order in which equal scores stand in a run; the scores are float64 [n]."""

    names: list[str]
    term: np.ndarray
    dense: np.ndarray


def candidates(term: Hits, dense: Hits, min_max: bool = False) -> Candidates:
    """The documents of two lists, of which either may be empty; `min_max`: their scores are brought to 0..1."""
    term_scores, dense_scores = (dict(_min_max(hits) if min_max else hits) for hits in (term, dense))
    names = sorted(term_scores.keys() | dense_scores.keys(), key=lambda name: name.encode("utf-8"), reverse=True)
    columns = (np.array([scores.get(name, 0.0) for name in names]) for scores in (term_scores, dense_scores))
    return Candidates(names, *columns)


def _min_max(hits: Hits) -> Hits:
    """Scores from 0, the least, to 1; all are 1 where they are equal: a document that is lacking has 0."""
    values = [score for _, score in hits]
    low, wide = min(values, default=0.0), max(values, default=0.0) - min(values, default=0.0)
    return [(name, (score - low) / wide if wide else 1.0) for name, score in hits]


def fused(topic: Candidates, alpha: float, depth: int) -> Hits:
    """The first `depth` documents by their fused scores, in canonical order."""
    (scores,), (order,) = _ranked(topic, np.array([alpha]), depth)
    return [(topic.names[place], float(scores[place])) for place in order]


def average_precisions(
    topic: Candidates, judged: Mapping[str, int], depth: int, alphas: np.ndarray = ALPHAS
) -> np.ndarray:
    """AP@depth of a topic with each weight, float64 [alphas], as the metric `ap` has it; 0 without a relevant one."""
    total = sum(relevance >= 1 for relevance in judged.values())
    if not (total and topic.names):
        return np.zeros(len(alphas))
    _, order = _ranked(topic, alphas, depth)
    relevant = np.array([judged.get(name, 0) >= 1 for name in topic.names])[order]
    precision = np.cumsum(relevant, axis=1) / np.arange(1, order.shape[1] + 1)
    return (precision * relevant).sum(axis=1) / total


def _ranked(topic: Candidates, alphas: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """(scores float32 [alphas, n], places of the first `depth` of them [alphas, <= depth])."""
    weight = alphas[:, None]
    scores = (weight * topic.term + (1 - weight) * topic.dense).astype(np.float32)
    return scores, np.argsort(-scores, axis=1, kind="stable")[:, :depth]


def choose(mean_ap: Sequence[float]) -> int:
    """The place of the weight with the highest mean AP to four digits, the least of equals.

    >>> choose([0.2, 0.30001, 0.30002, 0.1])
    1
    """
    rounded = [round(value, DIGITS) for value in mean_ap]
    return rounded.index(max(rounded))
