"""Findings on claims from estimates: two p-values each, one for the claim and one for its contrary.

Each kind of claim has a function that computes its `Finding`. A p-value is two-sided: it is at most a claim's level if
the interval at one minus that level lies above 0 (for the claim) or below it (for the contrary). The level comes from
the claim's family (family.py). Counts and costs have no p-value and get their verdict at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Literal, NamedTuple, Self

from stele.claims.judging.estimate import UNTRAINED, Estimate, interval, p_above
from stele.evaluation.significance import levels

State = Literal["supported", "no effect", "reversed", "undecided", "floor", "no data"]
ALPHA = 0.05
COST_RANGE = 0.25  # largest relative distance from the claimed cost
Compare = Callable[[float, float], bool]  # compares a number with the claimed one


class PartDifference(NamedTuple):
    """The difference of one of a claim's parts, in the unit of the estimates."""

    name: str
    mean: float


class Finding(NamedTuple):
    """The evidence on a claim; `shown` is the estimate that a figure draws, `against` says what speaks against it.

    supports and reverses are p-values corrected for the parts of the claim, so they may exceed 1; `times` holds the
    factor of each, by which the level of its end of the interval is divided. If a claim has several parts, `rival`
    names the shown part, which decides. `averaged` holds the findings on the parts of a mean.
    """

    supports: float
    reverses: float
    shown: Estimate
    seeds: int
    against: str = ""
    blocked: bool = False  # a part is opposite, so the whole cannot be supported
    equivalence: bool = False  # claims a difference within the bar: its interval is at 1 - 2 * level
    times: tuple[float, float] = (1.0, 1.0)
    uncorrected: float = 1.0  # p-value of the estimate shown, without correction
    rival: str = ""
    parts: Mapping[str, Self] = {}
    averaged: tuple[Self, ...] = ()
    printed: float | None = None  # printed difference of the estimate shown
    by_test: bool = False  # the paper's own test gives the p-values, our estimate the interval

    @property
    def p(self) -> float:
        """The p-value that a family corrects."""
        return min(self.supports, self.reverses, 1.0)

    def interval(self, level: float) -> tuple[float, float]:
        """Interval that decides at a level: its low end for the claim, its high end for the contrary."""
        if self.equivalence:  # both ends decide, in both directions
            times = self.times[self.reverses < self.supports]
            return interval(self.shown, min(1.0, 2 * level / times))
        (low, _), (_, high) = (interval(self.shown, level / times) for times in self.times)
        return low, high

    def is_within(self, bar: float, level: float) -> bool:
        """Whether the intervals of the whole and of all its parts lie within the bar around 0."""
        low, high = self.interval(level)
        parts = (*self.parts.values(), *self.averaged)
        return -bar < low and high < bar and all(part.is_within(bar, level) for part in parts)

    @property
    def differences(self) -> list[PartDifference]:
        """Differences of all parts, such as one for each rival; empty for a claim with a single part."""
        differences = []
        for name, part in self.parts.items():
            inner = part.differences or [PartDifference("", part.shown.mean)]
            differences += [PartDifference(_part(name, of_part.name), of_part.mean) for of_part in inner]
        return differences


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim, in the unit of the estimates.

    detectable: the smallest difference that the comparison could have detected. seeds_needed: the number of seeds to
    detect a difference of the bar, None if no number is enough. Only undecided claims have both. rival, printed and
    differences: as in `Finding`. closest: the smallest difference, None for a claim that there is no difference.
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
    rival: str = ""
    closest: PartDifference | None = None
    printed: float | None = None
    differences: tuple[PartDifference, ...] = ()


def greater(estimate: Estimate, bar: float = 0.0) -> Finding:
    """Finding on the claim that left is above right. A negative difference within the bar is not its contrary."""
    above, below = (2 * min(p_above(side), 0.5) for side in (estimate, estimate.reversed))
    uncorrected = min(above, below)
    if -bar < estimate.mean < 0:
        against = "below by less than the bar" if below <= ALPHA else ""
        return Finding(above, 1.0, estimate, estimate.seeds, against, uncorrected=uncorrected)
    return Finding(above, below, estimate, estimate.seeds, uncorrected=uncorrected)


def best(rivals: Mapping[str, Estimate], bar: float = 0.0) -> Finding:
    """Finding on the claim that left is above every rival: an intersection-union test.

    Its p is the largest over the rivals (Berger, Technometrics 24, 1982); that of the contrary, that some rival is
    better, is the smallest p times their number. The finding shows the rival that decides.
    """
    return at_least(len(rivals), {name: greater(estimate, bar) for name, estimate in rivals.items()})


def at_least(number: int, parts: Mapping[str, Finding]) -> Finding:
    """Finding on the claim that at least `number` of the parts are as claimed; too many contrary parts reverse it.

    Its p-value is that of a partial conjunction: the i-th smallest of n times n - i + 1 (Benjamini and Heller,
    Biometrics 64, 2008). The finding shows the part with that p; another part may have the smallest difference.
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
    return decides._replace(
        supports=supports,
        reverses=reverses,
        seeds=min(part.seeds for part in parts.values()),
        blocked=any(part.blocked for part in parts.values()),
        times=(others * decides.times[0], number * decides.times[1]),
        rival=_part(name, decides.rival),
        parts=parts,
    )


def _part(name: str, of_part: str) -> str:
    return f"{name}: {of_part}" if of_part else name


def without_reversal(whole: Estimate, parts: Mapping[str, Estimate], bar: float = 0.0) -> Finding:
    """Finding on the claim that the whole is above 0 and no part is below it by the bar or more (Holm over the parts).

    The whole is an average over languages, or a trend from end to end; the parts are the languages, or the steps.
    """
    finding = greater(whole, bar)
    p_values = {name: greater(part, bar).reverses for name, part in parts.items()}
    limits = levels(list(p_values.values()), "holm", ALPHA)
    against = [name for (name, p), limit in zip(p_values.items(), limits, strict=True) if p <= limit]
    seeds = min([finding.seeds, *(part.seeds for part in parts.values())])
    if not against:
        return finding._replace(seeds=seeds)
    return finding._replace(supports=1.0, seeds=seeds, against=f"reversed in {', '.join(against)}", blocked=True)


def comparable(estimate: Estimate, bar: float, languages: Sequence[Estimate] = ()) -> Finding:
    """Finding on the claim that two sides differ by less than the bar, by two one-sided tests (Schuirmann, Journal of
    Pharmacokinetics and Biopharmaceutics 15, 1987): at 5 % the 90 % interval must lie within the bar.

    `languages` are the parts of an average. Each must lie within the bar too, since +10 and -10 would cancel out; for
    the contrary only the average counts.
    """
    sides = [side for each in (estimate, *languages) for side in (each, each.reversed)]
    within = max(p_above(side, -bar) for side in sides)
    outside = min(1.0, 2 * min(p_above(estimate, bar), p_above(estimate.reversed, bar)))  # on either side of the bar
    means = [language.mean for language in languages]
    against = f"by language from {min(means):+.3g} to {max(means):+.3g}" if len(means) > 1 else ""
    uncorrected = min(within, outside)
    return Finding(within, outside, estimate, estimate.seeds, against, equivalence=True, uncorrected=uncorrected)


def margin(estimate: Estimate, amount: float, bar: float, is_limit: bool = False) -> Finding:
    """Finding on the claim that left is above right by `amount`: the interval lies within the bar around the amount, or
    above the amount if that `is_limit`. A different size is not the contrary; only a difference below 0 is."""
    above = greater(estimate, bar)
    size = [p_above(estimate, amount - (0 if is_limit else bar))]
    if not is_limit:
        size.append(p_above(estimate.reversed, -amount - bar))
    supports = max(above.supports, *(2 * min(p, 0.5) for p in size))
    sizes = f"measured {estimate.mean:+.3g}, claimed {amount:+.3g}"
    return above._replace(supports=supports, against=sizes, uncorrected=min(supports, above.reverses))


def significant(outcomes: Sequence[tuple[float, float]], shown: Estimate, bar: float = 0.0) -> Finding:
    """Finding on the claim that a difference is significant in most seeds by the paper's own test.

    An outcome is the corrected p-value and the difference in one seed; `shown` is our own estimate of the difference:
    if it lies within the bar, the claim is not reversed. The p-value, that at least i of n seeds differ, is that of a
    partial conjunction, as in `at_least`, so that a family corrects it like those of other claims.
    """
    seeds, most = len(outcomes), len(outcomes) // 2 + 1
    supports, reverses = (
        (seeds - most + 1) * sorted(p if sign * difference > 0 else 1.0 for p, difference in outcomes)[most - 1]
        for sign in (1, -1)
    )
    if -bar < shown.mean < 0:
        reverses = 1.0
    decided = [difference for p, difference in outcomes if p < ALPHA and difference]
    as_claimed = sum(difference > 0 for difference in decided)
    reason = f"significant in {len(decided)} of {seeds} seeds, {as_claimed} of them as claimed"
    return _by_test(supports, reverses, shown, seeds, reason)


def not_significant(outcomes: Sequence[tuple[float, float]], shown: Estimate, bar: float) -> Finding:
    """Finding on the claim that a difference is not significant in most seeds, and within the bar by our own estimate.

    The contrary, that it is significant in most seeds, has the p-value of a partial conjunction; a difference within
    the bar never reverses the claim. Arguments as for `significant`.
    """
    seeds, most = len(outcomes), len(outcomes) // 2 + 1
    of_seeds = sorted(p for p, _ in outcomes)
    decided = sum(p < ALPHA for p in of_seeds)
    supports = comparable(shown, bar).supports if decided < most else 1.0
    reverses = 1.0 if abs(shown.mean) < bar else (seeds - most + 1) * of_seeds[most - 1]
    reason = f"significant in {decided} of {seeds} seeds"
    return _by_test(supports, reverses, shown, seeds, reason)._replace(equivalence=True)


def _by_test(supports: float, reverses: float, shown: Estimate, seeds: int, reason: str) -> Finding:
    """Finding of a test in each of `seeds` seeds; without training there is one outcome, which is enough."""
    fewest = UNTRAINED if shown.seeds == UNTRAINED else min(seeds, shown.seeds)
    uncorrected = min(supports, reverses, 1.0)
    return Finding(supports, reverses, shown, fewest, reason, uncorrected=uncorrected, by_test=True)


def count(number: float, claimed: float, compare: Compare = eq, unknown: int = 0) -> Verdict:
    """Verdict on a claimed count, which `compare` (==, >= or >) meets; undecided if `unknown` cases could change it."""
    reason = f"{number:g}, claimed {claimed:g}"
    if len({compare(number + wins, claimed) for wins in range(unknown + 1)}) > 1:
        return Verdict("undecided", f"{reason}; {unknown} more are open")
    return Verdict("supported" if compare(number, claimed) else "reversed", reason)


def count_above(
    cells: Sequence[Mapping[str, Estimate]], bar: float, claimed: float, compare: Compare = eq, unknown: int = 0
) -> Verdict:
    """Verdict on the number of cells above all their rivals, each tested at 5 %; unsure or tiny wins stay open."""
    of_cells = [best(rivals, bar) for rivals in cells]
    unknown += sum(min(finding.supports, finding.reverses) > ALPHA for finding in of_cells)
    above = [rivals for rivals, finding in zip(cells, of_cells, strict=True) if finding.supports <= ALPHA]
    verdict = count(len(above), claimed, compare, unknown)
    small = sum(min(estimate.mean for estimate in rivals.values()) < bar for rivals in above)
    clear = count(len(above) - small, claimed, compare, unknown + small)
    if verdict.state == "reversed" and clear.state == "undecided":
        return Verdict("undecided", f"{verdict.reason}; {small} by less than the bar")
    return verdict


def cost(ratio: float, claimed: float | None = None) -> Verdict:
    """Verdict on a ratio of two costs: within a quarter of the claimed ratio, or below 1 if none is claimed."""
    if claimed is None:
        return Verdict("supported" if ratio < 1 else "reversed", f"{ratio:.3g} times, claimed less")
    within = abs(ratio / claimed - 1) <= COST_RANGE
    return Verdict("supported" if within else "reversed", f"{ratio:.3g} times, claimed {claimed:.3g}")
