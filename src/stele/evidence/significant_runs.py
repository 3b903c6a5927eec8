"""Significance as a paper states it: its own test on our values per query, seed by seed, corrected as it says.

Several cells are one claim: it is significant in a seed where all of them are, or most, as its quantifier says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stele.errors import SteleError
from stele.evaluation.significance import correct, load_test
from stele.evidence.measured import ALPHA, FEWEST_SEEDS, Verdict
from stele.evidence.observed import Runs
from stele.evidence.pairs import Pair
from stele.papers.table_parts import Significance

PERMUTATIONS = 10_000  # of a test of one seed: p to within .002 at .05
Outcome = tuple[float, float]  # corrected p and the difference, positive where the left is better


def by_seed(pairs: Sequence[Pair], runs: Runs, enough: int) -> list[Outcome]:
    """For each seed the outcome of the cell that decides; p is 1 where cells go both ways."""
    tests = [_tests(pair, runs) for pair in pairs]
    plan = pairs[0].left.at.significance or Significance()
    outcomes = []
    for of_seed in zip(*tests, strict=False):  # the seeds that all cells have
        corrected = correct([p for p, _ in of_seed], plan.correction)
        outcomes.append(_deciding([(p, d) for p, (_, d) in zip(corrected, of_seed, strict=True)], enough))
    return outcomes


def _deciding(cells: Sequence[Outcome], enough: int) -> Outcome:
    """The last of the cells that it takes for the claim, else for the contrary."""
    above = sorted(p for p, difference in cells if difference > 0)
    below = sorted(p for p, difference in cells if difference < 0)
    others = len(cells) - enough + 1
    if len(above) >= enough and (len(below) < others or above[enough - 1] <= below[others - 1]):
        return above[enough - 1], 1.0
    return (below[others - 1], -1.0) if len(below) >= others else (1.0, 0.0)


def _tests(pair: Pair, runs: Runs) -> list[Outcome]:
    """p and the difference of one cell, by seed; a side with other seeds is the mean over them."""
    ours, theirs = pair.left.at.reference, pair.right.at.reference
    systems = [runs.system(reference.result) for reference in (ours, theirs)]
    plan = pair.left.at.significance or Significance()
    test, sign = load_test(plan.test), -1 if pair.left.at.direction == "lower" else 1
    strata = []
    for code in [code for code in runs.languages(ours) if code in runs.languages(theirs)]:
        left, right = (system.metrics[r.metric][code] for system, r in zip(systems, (ours, theirs), strict=True))
        _, in_left, in_right = np.intersect1d(left.queries, right.queries, return_indices=True)
        if len(in_left) < len(left.queries):
            raise SteleError(f"{theirs.result.path} lacks queries of {ours.result.path} in {code}; score both again")
        by_seed, other = left.values[:, in_left], right.values[:, in_right]
        if systems[0].seeds != systems[1].seeds:
            other = other.mean(axis=0, keepdims=True)
        strata.append(sign * (by_seed - other))
    return [
        (
            test.p_value([of_language[seed] for of_language in strata], PERMUTATIONS, 0),
            float(np.mean([of_language[seed].mean() for of_language in strata])),
        )
        for seed in range(len(strata[0]))
    ]


def nowhere(outcomes: Sequence[Outcome]) -> Verdict:
    """Of a claim that nothing is significant: reversed where it is in most seeds."""
    seeds = len(outcomes)
    said = sum(p < ALPHA for p, _ in outcomes)
    reason = f"significant in {said} of {seeds} seeds"
    if seeds < FEWEST_SEEDS:
        return Verdict("undecided", f"{seeds} of at least {FEWEST_SEEDS} seeds; {reason}", seeds=seeds)
    return Verdict("reversed" if 2 * said > seeds else "supported", reason, seeds=seeds)
