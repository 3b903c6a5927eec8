"""What an undecided comparison could have seen, and how many seeds it would take to see what matters."""

from __future__ import annotations

import math

from stele.evidence.estimate import FEWEST_SEEDS, Estimate, Part, quantile

POWER = 0.8
MOST_SEEDS = 100


def detectable(found: Estimate, alpha: float, power: float = POWER) -> float:
    """The smallest true difference that would be told from 0, at level `alpha`, with a chance of `power`.

    The sum of two quantiles of t times the standard error: the usual approximation of the noncentral t.
    """
    return (quantile(1 - alpha / 2, found.freedom) + quantile(power, found.freedom)) * found.error


def seeds_needed(found: Estimate, effect: float, alpha: float, power: float = POWER) -> int | None:
    """The fewest seeds with which `effect` would be detectable; None where the queries alone are too few for it.

    A seed more changes the part of the seeds alone.
    """
    for seeds in range(FEWEST_SEEDS, MOST_SEEDS + 1):
        parts = tuple(_with_seeds(part, seeds) for part in found.parts)
        if detectable(found._replace(parts=parts), alpha, power) <= effect:
            return seeds
    return None


def _with_seeds(part: Part, seeds: int) -> Part:
    return Part(part.variance * part.seeds / seeds, seeds - 1, seeds) if part.seeds else part


def share(amount: float, printed: float) -> float:
    """A measured gain as a share of the printed one; NaN where nothing is gained on print."""
    return amount / printed if printed else math.nan
