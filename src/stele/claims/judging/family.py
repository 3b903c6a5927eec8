"""Verdicts of a family of claims: the level of each claim, and the state of a finding at its level.

The states, in the order in which they are checked; the bar is the smallest difference of interest:

- no data: results are missing
- floor: all compared systems score below the lowest score that the claim calls meaningful
- undecided: fewer than 3 seeds, or none of the other states
- supported, reversed; a difference within the bar is never reversed, however certain
- no effect: the intervals of all parts (cells, languages, steps) lie within the bar around 0; not if both sides score
  within a bar of the floor or the ceiling of their metric
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from stele.claims.judging.estimate import FEWEST_SEEDS, ROUNDING, detectable, seeds_needed
from stele.claims.judging.findings import ALPHA, Finding, PartDifference, State, Verdict
from stele.evaluation.significance import levels


class Case(NamedTuple):
    """A claim to be judged: its finding (None if results are missing) and its bar, the smallest difference of interest.

    floor: (highest score compared, lowest meaningful score). All numbers are in the unit of the estimate. extreme: the
    end of the scale, "floor" or "ceiling", if all scores of a comparison lie within a bar of it. compared: identity of
    the comparison; without it, comparisons with equal numbers are one.
    """

    finding: Finding | None
    bar: float
    floor: tuple[float, float] | None = None
    extreme: str = ""
    compared: object = None

    @property
    def is_at_floor(self) -> bool:
        """Whether all compared systems score below the lowest meaningful score."""
        return self.floor is not None and self.floor[0] < self.floor[1]

    @property
    def p(self) -> float:
        """The p-value that counts in a family; NaN if it cannot lead to a verdict."""
        finding = self.finding
        if finding is None or finding.seeds < FEWEST_SEEDS or self.is_at_floor:
            return math.nan
        return math.nan if finding.equivalence and self.extreme else finding.p


def extreme(scores: Sequence[float], top: float, bar: float) -> str:
    """Returns "floor" or "ceiling" if all scores lie within a bar of that end of the scale 0 to `top`, else "".

    >>> extreme([0.0, 0.01], 1.0, 0.01), extreme([0.995, 1.0], 1.0, 0.01), extreme([0.0, 1.0], 1.0, 0.01)
    ('floor', 'ceiling', '')
    """
    if scores and max(scores) <= bar:
        return "floor"
    return "ceiling" if scores and top - bar <= min(scores) and max(scores) <= top * (1 + ROUNDING) else ""


def judge_family(cases: Sequence[Case], procedure: str, alpha: float = ALPHA) -> list[Verdict]:
    """Judges the claims of one family by "holm" or "benjamini_hochberg", each at its own level.

    `alpha` is the family's level; with two looks at the data each look has half of it. A case without a finding stands
    for a claim of the family without a p-value. A comparison counts once, however many claims rest on it.
    """
    first: dict[object, int] = {}  # comparison -> its index in the family
    places, p_values = [], []
    for number, case in enumerate(cases):
        finding = case.finding
        same = case.compared or (number if finding is None else _without_last_bits(finding))
        if same not in first:
            first[same] = len(p_values)
            p_values.append(case.p)
        places.append(first[same])
    chosen = levels(p_values, procedure, alpha)
    return [judge(case, chosen[place]) for case, place in zip(cases, places, strict=True)]


def _without_last_bits(finding: Finding) -> tuple[str, ...]:
    """Numbers of a finding, which claims share that sum the same cells in another order: avg, or its languages."""
    shown = finding.shown
    return tuple(f"{number:.9g}" for number in (finding.supports, finding.reverses, shown.mean, shown.error))


def judge(case: Case, level: float = ALPHA) -> Verdict:
    """Judges one claim at its own level."""
    finding = case.finding
    if finding is None:
        return Verdict("no data", "results are missing")
    differences = finding.differences
    closest = min(differences, key=lambda part: part.mean) if differences and not finding.equivalence else None
    state, reason = _state(case, finding, closest, level)
    undecided = state == "undecided" and finding.shown.seeds > 1 and not finding.by_test
    return Verdict(
        state,
        reason,
        finding.shown.mean,
        finding.interval(level),
        finding.uncorrected,
        level,
        finding.seeds,
        detectable(finding.shown, level / finding.times[0]) if undecided else None,
        seeds_needed(finding.shown, case.bar, level / finding.times[0]) if undecided else None,
        finding.rival,
        closest,
        finding.printed,
        tuple(differences),
    )


def _state(case: Case, finding: Finding, closest: PartDifference | None, level: float) -> tuple[State, str]:
    if case.is_at_floor:
        return "floor", f"all compared systems score below {case.floor[1]:g}"
    if finding.seeds < FEWEST_SEEDS:
        return "undecided", f"{finding.seeds} of at least {FEWEST_SEEDS} seeds"
    reasons = [f"decided by {finding.rival}"] if finding.rival else []
    if closest and closest.name != finding.rival:
        reasons.append(f"the smallest difference is {closest.mean:+.3g}, {closest.name}")
    reason = _joined(*reasons, finding.against)
    # at the end of a scale, systems score alike even if they differ
    at_extreme = _joined(reason, f"both sides score within {case.bar:g} of the {case.extreme}")
    if finding.supports <= level:
        return ("undecided", at_extreme) if finding.equivalence and case.extreme else ("supported", reason)
    if finding.reverses <= level:
        return "reversed", reason
    low, high = finding.interval(level)
    if finding.equivalence or finding.blocked or finding.by_test or low <= -case.bar or high >= case.bar:
        return "undecided", reason
    if not all(part.is_within(case.bar, level) for part in finding.averaged):
        return "undecided", _joined(reason, "on average within the bar, but not surely in each part")
    if not finding.is_within(case.bar, level):  # another rival or cell
        return "undecided", reason
    return ("undecided", at_extreme) if case.extreme else ("no effect", reason)


def _joined(*reasons: str) -> str:
    return "; ".join(filter(None, reasons))
