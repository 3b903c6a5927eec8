"""From estimates to a verdict: two p-values, one for the claim and one for the contrary, and the levels of a family.

Each kind of claim has a function that gives its `Finding`. A p-value is two-sided: it is at most a claim's level where
the interval at one minus that level lies above 0 (for the claim) or below it (for the contrary). Which level, the
family says (`levels`). The states, in the order in which they are looked for:

- no data: results are missing
- floor: all that is compared scores below what a claim names as the least that means something
- undecided: fewer than 3 seeds, or none of the others
- supported, reversed
- no effect: the interval lies within the bar around 0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from stele.claims.judging.estimate import FEWEST_SEEDS, Estimate, detectable, interval, p_above, seeds_needed

State = Literal["supported", "no effect", "reversed", "undecided", "floor", "no data"]
ALPHA = 0.05
COST_RANGE = 0.25  # how far a cost may be from the claimed one


class Finding(NamedTuple):
    """The evidence on a claim; `shown` is the estimate of its dot and whisker, `against` says what is against it.

    supports and reverses are p-values after the correction for the parts of the claim, so that they may pass 1; `times`
    says by how much each was multiplied, and thereby how much wider its end of the interval is.
    """

    supports: float
    reverses: float
    shown: Estimate
    seeds: int
    against: str = ""
    blocked: bool = False  # a part goes the other way, so that nothing supports the whole
    equivalence: bool = False  # about lying within the bar: its interval is at one minus twice the level
    times: tuple[float, float] = (1.0, 1.0)
    uncorrected: float = 1.0  # the p-value of what is shown, as it is

    @property
    def p(self) -> float:
        """The p-value that a family corrects."""
        return min(self.supports, self.reverses, 1.0)

    def interval(self, level: float) -> tuple[float, float]:
        """The interval that decides at a level: its low end for the claim, its high end for the contrary."""
        if self.equivalence:  # both ends decide either way
            times = self.times[self.reverses < self.supports]
            return interval(self.shown, min(1.0, 2 * level / times))
        (low, _), (_, high) = (interval(self.shown, level / times) for times in self.times)
        return low, high


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim, in the unit of the estimates.

    detectable: the smallest difference that the comparison could have seen; seeds_needed: to see one of the size of the
    bar, None where no number of seeds does. Both are of undecided claims.
    """

    state: State
    reason: str = ""
    mean: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    level: float | None = None
    seeds: int = 0
    detectable: float | None = None
    seeds_needed: int | None = None


def greater(found: Estimate) -> Finding:
    """Left is above right; of a ratio and a margin, too."""
    above, below = (2 * min(p_above(one), 0.5) for one in (found, found.reversed))
    return Finding(above, below, found, found.seeds, uncorrected=min(above, below))


def best(rivals: Mapping[str, Estimate]) -> Finding:
    """Left is above every rival: an intersection-union test, its p the largest of all (Berger, Technometrics 24, 1982).

    That one rival is better is a union, so there the smallest p counts times their number. Shown is the closest rival.
    """
    return at_least(len(rivals), {name: greater(found) for name, found in rivals.items()})


def at_least(number: int, parts: Mapping[str, Finding]) -> Finding:
    """At least `number` of the parts are as claimed; reversed where too many parts are the contrary.

    The p-value of a partial conjunction: the i-th smallest of n times n - i + 1 (Benjamini and Heller, Biometrics 64,
    2008). Shown is the part that decides: of all parts the closest.
    """
    if len(parts) == 1:
        return next(iter(parts.values()))
    order = sorted(parts, key=lambda name: (parts[name].supports, -parts[name].shown.mean))
    against = sorted(parts, key=lambda name: (parts[name].reverses, parts[name].shown.mean))
    others = len(parts) - number + 1
    for_it, against_it = order[number - 1], against[others - 1]
    supports, reverses = others * parts[for_it].supports, number * parts[against_it].reverses
    name = against_it if parts[against_it].reverses < parts[for_it].supports else for_it
    decides = parts[name]
    what = f"the closest is {name}" if number == len(parts) else f"the one that decides: {name}"
    return Finding(
        supports,
        reverses,
        decides.shown,
        min(one.seeds for one in parts.values()),
        f"{what}; {decides.against}" if decides.against else what,
        any(one.blocked for one in parts.values()),
        decides.equivalence,
        (others * decides.times[0], number * decides.times[1]),
        decides.uncorrected,
    )


def without_reversal(whole: Estimate, parts: Mapping[str, Estimate]) -> Finding:
    """The whole is above and no part is below (Holm over the parts).

    The whole is an average over languages, or a trend from end to end; the parts are the languages, or the steps.
    """
    finding = greater(whole)
    p_values = {name: greater(part).reverses for name, part in parts.items()}
    limits = levels(list(p_values.values()), "holm", ALPHA)
    against = [name for (name, p), limit in zip(p_values.items(), limits, strict=True) if p <= limit]
    seeds = min([finding.seeds, *(part.seeds for part in parts.values())])
    if not against:
        return finding._replace(seeds=seeds)
    return finding._replace(supports=1.0, seeds=seeds, against=f"reversed in {', '.join(against)}", blocked=True)


def comparable(found: Estimate, bar: float) -> Finding:
    """Both differ by less than the bar: two one-sided tests (Schuirmann, Journal of Pharmacokinetics and
    Biopharmaceutics 15, 1987), at 5 % an interval of 90 % within the bar."""
    within = max(p_above(found, -bar), p_above(found.reversed, -bar))
    outside = min(p_above(found, bar), p_above(found.reversed, bar))
    return Finding(within, outside, found, found.seeds, equivalence=True, uncorrected=min(within, outside))


def margin(found: Estimate, amount: float, bar: float | None) -> Finding:
    """Left is above right, and by the amount: the interval lies within the bar around it, or above it where it is a
    limit (no bar). Another size is not the contrary, which is said below 0 alone."""
    above = greater(found)
    size = [p_above(found, amount - (bar or 0))]
    if bar is not None:
        size.append(p_above(found.reversed, -amount - bar))
    supports = max(above.supports, *(2 * min(p, 0.5) for p in size))
    said = f"measured {found.mean:+.3g}, claimed {amount:+.3g}"
    return above._replace(supports=supports, against=said, uncorrected=min(supports, above.reverses))


def holm(p_values: np.ndarray, alpha: float) -> np.ndarray:
    """float64 [m]: alpha over m for the smallest p, over m - 1 for the next, until one is not rejected."""
    order = np.argsort(p_values, kind="stable")
    steps = alpha / np.arange(len(p_values), 0, -1)
    open_ = np.flatnonzero(p_values[order] > steps)
    if len(open_):
        steps[open_[0] :] = steps[open_[0]]
    levels = np.empty(len(p_values))
    levels[order] = steps
    return levels


def benjamini_hochberg(p_values: np.ndarray, alpha: float) -> np.ndarray:
    """float64 [m]: alpha times the share that is rejected, the same for all."""
    steps = alpha * np.arange(1, len(p_values) + 1) / len(p_values)
    rejected = np.flatnonzero(np.sort(p_values) <= steps)
    return np.full(len(p_values), steps[rejected[-1]] if len(rejected) else steps[0])


PROCEDURES: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
}


def levels(p_values: Sequence[float], procedure: str, alpha: float = 0.05) -> list[float]:
    """The level of each claim of one family, in the order given, so that the family as a whole keeps `alpha`.

    A claim's p-value is at most its level, and its interval at one minus the level leaves out 0, exactly where the
    family's procedure rejects: the interval that is shown is the one that is judged by.

    - holm: the chance of any false verdict in the family (Holm, Scandinavian Journal of Statistics 6, 1979)
    - benjamini_hochberg: the expected share of false verdicts (Journal of the Royal Statistical Society B 57, 1995),
      with the intervals of Benjamini and Yekutieli (Journal of the American Statistical Association 100, 2005)

    A claim without a p-value is NaN: results are missing, or it has a test of its own. In Holm's family, which was
    fixed before any run, it counts as not rejected. In the other it does not count and its level is the family's: a
    claim without a verdict cannot be a false discovery.

    >>> levels([0.001, 0.2, 0.02], "holm", 0.06)
    [0.02, 0.06, 0.03]
    >>> levels([0.001, 0.2, 0.02], "benjamini_hochberg", 0.06)
    [0.04, 0.04, 0.04]
    """
    given = np.asarray(p_values, dtype=np.float64)
    if procedure == "holm":
        given = np.where(np.isnan(given), 1.0, given)
    known = ~np.isnan(given)
    chosen = np.full(len(given), alpha)
    if known.any():
        chosen[known] = PROCEDURES[procedure](given[known], alpha)
    return chosen.tolist()


class Case(NamedTuple):
    """A claim to be judged, None where results are missing; `bar` is the smallest difference of interest.

    floor: (the highest score of what is compared, the least that means something). All in the unit of the estimate.
    """

    finding: Finding | None
    bar: float
    floor: tuple[float, float] | None = None

    @property
    def p(self) -> float:
        """The p-value that counts in a family; NaN where nothing can be decided yet."""
        return self.finding.p if self.finding and self.finding.seeds >= FEWEST_SEEDS else math.nan


def judge_family(cases: Sequence[Case], procedure: str, alpha: float = ALPHA) -> list[Verdict]:
    """The verdicts of one family, "holm" or "benjamini_hochberg", each at its own level.

    `alpha` is the family's level; with two looks at the data each has half of it. A case without a finding stands for
    a claim of the family that has no p-value.
    """
    chosen = levels([case.p for case in cases], procedure, alpha)
    return [judge(case, level) for case, level in zip(cases, chosen, strict=True)]


def judge(case: Case, level: float = ALPHA) -> Verdict:
    """The verdict on one claim at its own level."""
    finding = case.finding
    if finding is None:
        return Verdict("no data", "results are missing")
    limits = finding.interval(level)
    state, reason = _state(case, finding, limits, level)
    undecided = state == "undecided" and finding.shown.seeds > 1
    return Verdict(
        state,
        reason,
        finding.shown.mean,
        limits,
        finding.uncorrected,
        level,
        finding.seeds,
        detectable(finding.shown, level / finding.times[0]) if undecided else None,
        seeds_needed(finding.shown, case.bar, level / finding.times[0]) if undecided else None,
    )


def _state(case: Case, finding: Finding, limits: tuple[float, float], level: float) -> tuple[State, str]:
    if case.floor and case.floor[0] < case.floor[1]:
        return "floor", f"all that is compared scores below {case.floor[1]:g}"
    if finding.seeds < FEWEST_SEEDS:
        return "undecided", f"{finding.seeds} of at least {FEWEST_SEEDS} seeds"
    if finding.supports <= level:
        return "supported", finding.against
    if finding.reverses <= level:
        return "reversed", finding.against
    within = -case.bar < limits[0] and limits[1] < case.bar
    if within and not finding.equivalence and not finding.blocked:
        return "no effect", finding.against
    return "undecided", finding.against


def significant(outcomes: Sequence[tuple[float, float]], marked: bool = True, alpha: float = ALPHA) -> Verdict:
    """By the paper's own test: significant in most seeds, or of a claim that is not `marked`, in no more than half.

    An outcome is the corrected p-value and the difference in one seed.
    """
    seeds = len(outcomes)
    if not seeds:
        return Verdict("no data", "results are missing")
    differences = [difference for p, difference in outcomes if p < alpha and (difference or not marked)]
    as_claimed = sum(difference > 0 for difference in differences)
    reason = f"significant in {len(differences)} of {seeds} seeds"
    if marked:
        reason += f", {as_claimed} of them as claimed"
    if seeds < FEWEST_SEEDS:
        return Verdict("undecided", f"{seeds} of at least {FEWEST_SEEDS} seeds; {reason}", seeds=seeds)
    if not marked:
        return Verdict("reversed" if 2 * len(differences) > seeds else "supported", reason, seeds=seeds)
    state: State = "undecided"
    if 2 * as_claimed > seeds:
        state = "supported"
    elif 2 * (len(differences) - as_claimed) > seeds:
        state = "reversed"
    return Verdict(state, reason, seeds=seeds)


def count(number: float, claimed: float, at_least: bool = False, more_than: bool = False, unknown: int = 0) -> Verdict:
    """A count is the claimed one exactly, at least that, or more; undecided where the unknown ones could tell."""

    def meets(total: float) -> bool:
        if more_than:
            return total > claimed
        return total >= claimed if at_least else total == claimed

    reason = f"{number:g}, claimed {claimed:g}"
    if len({meets(number + wins) for wins in range(unknown + 1)}) > 1:
        return Verdict("undecided", f"{reason}; {unknown} more are not known")
    return Verdict("supported" if meets(number) else "reversed", reason)


def cost(ratio: float, claimed: float | None = None) -> Verdict:
    """A ratio of two costs is within a quarter of the claimed one; below 1 where none is claimed."""
    if claimed is None:
        return Verdict("supported" if ratio < 1 else "reversed", f"{ratio:.3g} times, claimed less")
    within = abs(ratio / claimed - 1) <= COST_RANGE
    return Verdict("supported" if within else "reversed", f"{ratio:.3g} times, claimed {claimed:.3g}")
