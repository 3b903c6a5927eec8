"""Rankings as ranx sees them, and its metrics on them.

ranx takes its own Run and Qrels, or plain arrays. Arrays are used: a Run sorts again (ties in no defined order),
hashes passage ids to floats, and has numba compile its sorting anew for each new length of an id. Here a ranking
arrives in canonical order, ids become small numbers, and all queries of all languages are scored in one call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stele.scoring.case import Case

_ABSENT, _UNJUDGED = -1.0, -2.0  # numbers that are no passage


def arrays(ranked: Sequence[Sequence[str]], relevant: Sequence[Mapping[str, int]]) -> tuple[np.ndarray, np.ndarray]:
    """(judgments [q, r, 2], rankings [q, k, 2]) of (passage number, relevance or score), float64, padded.

    Within a query its judged passages are numbered from 0. Scores fall strictly along the ranking. Padding of the
    judgments has relevance 0, which ranx leaves out; padding of a ranking is a passage that nobody judged.
    """
    width = max(1, max(map(len, relevant), default=1))
    depth = max(1, max(map(len, ranked), default=1))
    judged = np.zeros((len(ranked), width, 2))
    judged[:, :, 0] = _ABSENT
    rankings = np.empty((len(ranked), depth, 2))
    rankings[:, :, 0] = _UNJUDGED
    rankings[:, :, 1] = np.arange(depth, 0, -1)
    for row, (names, right) in enumerate(zip(ranked, relevant, strict=True)):
        numbers = {name: number for number, name in enumerate(right)}
        for number, relevance in enumerate(right.values()):
            judged[row, number] = number, relevance
        for rank, name in enumerate(names):
            if name in numbers:
                rankings[row, rank, 0] = numbers[name]
    return judged, rankings


def by_ranx(case: Case, name: str, cut: str) -> np.ndarray:
    """One value per query by ranx's "mrr", "recall" or "map" at a cut.

    Queries without a result or without a relevant passage score 0. The metric's function is called itself:
    `ranx.evaluate` cannot return the values per query of a single metric.
    """
    import numba
    from ranx.metrics import metric_switch

    judged, rankings = case.once("arrays", lambda: arrays(case.ranked, case.relevant))
    numba.set_num_threads(1)  # the work is milliseconds
    return np.asarray(metric_switch(name)(judged, rankings, int(cut), 1), dtype=np.float64)
