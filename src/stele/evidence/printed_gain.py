"""The difference that a paper prints where our runs have an estimate, so that both can be drawn on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from stele.evidence.pairs import Pair, pairs_meant
from stele.papers.addresses import PrintedPaper
from stele.papers.claims import Claim

DRAWN = ("greater", "best", "margin", "comparable", "significant")  # kinds whose estimate is left minus right


def printed_gain(claim: Claim, paper: PrintedPaper) -> float | None:
    """Left minus right as printed, in the table's unit: on average, of the closest rival; None where nothing is.

    Of a claim about all cells it is the least of them. `best` goes by the direction of its column, as on runs.
    """
    if claim.kind not in DRAWN or not claim.rights or claim.quantifier == "most":
        return None
    pairs = [pair for pair in pairs_meant(claim, paper) if pair.complete]
    by_rival: dict[tuple, list[Pair]] = {}
    for pair in pairs:
        by_rival.setdefault((pair.rival, pair.left.name if claim.quantifier == "all" else ""), []).append(pair)
    return min((_mean(claim, group) for group in by_rival.values()), default=None)


def _mean(claim: Claim, pairs: Sequence[Pair]) -> float:
    lower_is_better = claim.kind == "best" and pairs[0].left.at.direction == "lower"
    return (-1 if lower_is_better else 1) * math.fsum(pair.difference for pair in pairs) / len(pairs)
