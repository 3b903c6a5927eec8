"""What our own runs say of a claim, kind by kind: from its addresses to a finding that its family then judges.

Pairs are made as for print (`stele.claims.judging.pairs`); their values come from a folder of results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from stele.artifacts.records import GENERATED
from stele.claims.judging import findings
from stele.claims.judging.comparisons import Judging, by_seed, difference, mean_of, mean_terms, signed
from stele.claims.judging.estimate import Estimate, Term, combine
from stele.claims.judging.findings import Case, Finding, Verdict
from stele.claims.judging.pairs import (
    Pair,
    Value,
    bar_of,
    baseline_pairs,
    pairs_meant,
    pairs_of,
    peak_of,
    series_of,
    values_at,
    values_meant,
)
from stele.papers.claims import Claim

Test = Callable[[Estimate], Finding]


def compared(
    judging: Judging, sign: Callable[[Pair], int], test: Test = findings.greater, times: float = 1.0
) -> Case | Verdict:
    """Whether the left is above all its rivals: on average above each of them, else in as many cells as are meant."""
    claim, pairs = judging.claim, pairs_meant(judging.claim, judging.paper)
    usable = judging.with_terms(pairs, lambda pair: difference(pair, times))
    if judging.missing or not usable:
        return judging.nothing
    by_rival = claim.quantifier in ("average", "each_language")
    names = _rival_names([pair for pair, _ in usable])
    groups: dict[str, dict[str, list[tuple[str, list[Term]]]]] = {}  # cell -> rival -> (language, terms)
    for pair, terms in usable:
        cell, rival = ("", names[pair.rival]) if by_rival else (pair.left.name, pair.right.name)
        language = pair.left.at.target.language or pair.left.at.parts[-1]
        groups.setdefault(cell, {}).setdefault(rival, []).append((language, signed(terms, sign(pair))))
    cells = {}
    for cell, rivals in groups.items():
        of_rivals = {rival: _finding(claim, test, parts) for rival, parts in rivals.items()}
        cells[cell] = findings.at_least(len(of_rivals), of_rivals)
    finding = findings.at_least(_enough(claim, len(cells)), cells)
    sides = ([pair.left for pair, _ in usable], [pair.right for pair, _ in usable])
    return Case(finding, bar_of(pairs[0].left, judging.bars), _floor(judging, sides))


def _rival_names(pairs: Sequence[Pair]) -> dict[tuple[str, ...], str]:
    """What rivals are called: by their row, where that tells them apart, else by the address of their first cell."""
    rivals = {pair.rival: pair.right for pair in reversed(pairs)}  # the first of each
    for names in (
        {rival: right.at.parts[1] + right.at.other for rival, right in rivals.items()},
        {rival: right.name for rival, right in rivals.items()},
    ):
        if len(set(names.values())) == len(rivals):
            return names
    return {rival: "/".join(rival) for rival in rivals}


def _enough(claim: Claim, number: int) -> int:
    """How many of `number` cells have to be as claimed."""
    return number // 2 + 1 if claim.quantifier == "most" else number


def _finding(claim: Claim, test: Test, parts: Sequence[tuple[str, list[Term]]]) -> Finding:
    """The finding on the mean of some (language, terms)."""
    average = mean_of([terms for _, terms in parts])
    if claim.quantifier != "each_language" or test is not findings.greater:
        return test(average)
    languages: dict[str, list[list[Term]]] = {}
    for language, terms in parts:
        languages.setdefault(language, []).append(terms)
    return findings.without_reversal(average, {code: mean_of(combinations) for code, combinations in languages.items()})


def _floor(judging: Judging, sides: Iterable[Sequence[Value]]) -> tuple[float, float] | None:
    """(the highest mean score of the two sides or of a trend's points, the claim's floor)."""
    if judging.claim.floor is None:
        return None
    scores = []
    for side in sides:
        scored = judging.with_terms(side, lambda value: value.terms)
        scores.append(mean_of([terms for _, terms in scored]).mean)
    return max(scores), judging.claim.floor


def greater(judging: Judging) -> Case | Verdict:
    """The left is the larger number, than the right or than a value."""
    if judging.claim.value is None:
        return compared(judging, lambda pair: 1)
    usable = judging.with_terms(values_meant(judging.claim, judging.paper), lambda value: value.terms)
    if judging.missing or not usable:
        return judging.nothing
    estimates = {value.name: combine(terms) for value, terms in usable}
    if judging.claim.quantifier == "average":
        estimates = {"all": mean_of([terms for _, terms in usable])}
    above = {}
    for name, estimate in estimates.items():
        above[name] = findings.greater(estimate._replace(mean=estimate.mean - judging.claim.value))
    finding = findings.at_least(_enough(judging.claim, len(above)), above)
    return Case(finding, bar_of(usable[0][0], judging.bars), _floor(judging, [[value for value, _ in usable]]))


def best(judging: Judging) -> Case | Verdict:
    """The left is better than each rival, in the direction of its column."""
    return compared(judging, lambda pair: pair.better)


def margin(judging: Judging) -> Case | Verdict:
    """The left is above (below, of a negative amount); by how much is judged at the papers' size alone."""
    claim = judging.claim

    def sign(pair: Pair) -> int:
        return 1 if claim.amount >= 0 else -1

    if not judging.full_size:
        return compared(judging, sign)
    bar = bar_of(pairs_meant(claim, judging.paper)[0].left, judging.bars)
    limit = claim.at_least or claim.more_than
    return compared(judging, sign, lambda found: findings.margin(found, abs(claim.amount), None if limit else bar))


def ratio(judging: Judging) -> Case | Verdict:
    """The left is above the right (below, of an amount below 1); of a limit, above amount × right."""
    amount = judging.claim.amount
    if judging.claim.at_least or judging.claim.more_than:
        return compared(judging, lambda pair: 1, times=amount)
    return compared(judging, lambda pair: 1 if amount >= 1 else -1)


def trend(judging: Judging) -> Case | Verdict:
    """From end to end it rises or falls and no step goes the other way; both neighbours of a peak are lower."""
    claim = judging.claim
    series = series_of(claim, judging.paper)
    usable = [(values, steps) for values in series if (steps := _steps(judging, values)) is not None]
    if judging.missing or not usable:
        return judging.nothing
    rows = [steps for _, steps in usable]
    if claim.quantifier == "average":
        rows = [[mean_terms(steps) for steps in zip(*rows, strict=True)]]
    trends = {usable[n][0][0].name: _trend(claim, steps) for n, steps in enumerate(rows)}
    points = zip(*(values for values, _ in usable), strict=True)
    finding = findings.at_least(_enough(claim, len(trends)), trends)
    return Case(finding, bar_of(series[0][0], judging.bars), _floor(judging, points))


def _steps(judging: Judging, values: Sequence[Value]) -> list[list[Term]] | None:
    """From each point to the next, later minus earlier."""
    steps = [judging.terms(difference(Pair(after, before))) for before, after in pairwise(values)]
    return None if any(step is None for step in steps) else steps


def _trend(claim: Claim, steps: Sequence[Sequence[Term]]) -> Finding:
    if claim.shape == "peak":
        peak = peak_of(claim)
        neighbours = {"the one before": combine(steps[peak - 1]), "the one after": combine(signed(steps[peak], -1))}
        return findings.best(neighbours)
    sign = 1 if claim.shape == "rising" else -1
    steps = [signed(step, sign) for step in steps]
    ends = combine([term for step in steps for term in step])
    return findings.without_reversal(
        ends, {f"step {number}": combine(step) for number, step in enumerate(steps, start=1)}
    )


def comparable(judging: Judging) -> Case | Verdict:
    """The two differ by less than the bar."""
    bar = bar_of(pairs_meant(judging.claim, judging.paper)[0].left, judging.bars)
    return compared(judging, lambda pair: 1, lambda found: findings.comparable(found, bar))


def significant(judging: Judging) -> Verdict:
    """The paper's own test in each seed; where no right is named, against the row that the table compares with."""
    claim = judging.claim
    pairs = pairs_meant(claim, judging.paper) if claim.right else baseline_pairs(claim, judging.paper)
    usable = [pair for pair, _ in judging.with_terms(pairs, difference)]
    if judging.missing or not usable:
        return judging.nothing
    return findings.significant(by_seed(usable, judging.runs, _enough(claim, len(usable))), claim.marked)


def count(judging: Judging) -> Verdict:
    """Our cell holds the value, that many cells have a number of ours, or that many on the left are above the right.

    Sizes are chosen in a generated world: there the first two are no evidence, also where they agree.
    """
    claim = judging.claim
    limits = {"at_least": claim.at_least, "more_than": claim.more_than}
    if claim.left is not None:
        return _count_of_wins(judging, limits)
    values = values_at(claim.of, judging.paper)
    numbers = [number for value in values if (number := judging.number(value.at)) is not None]
    if judging.missing or not numbers:
        return judging.nothing
    decimals = len(repr(claim.value).partition(".")[2])
    counted = round(numbers[0], decimals) if len(values) == 1 else len(numbers)
    if GENERATED in judging.labels:
        return Verdict("no data", f"sizes of generated data are chosen ({counted:g}, claimed {claim.value:g})")
    return findings.count(counted, claim.value, **limits)


def _count_of_wins(judging: Judging, limits: dict[str, bool]) -> Verdict:
    by_left: dict[str, list[Estimate]] = {}
    pairs = pairs_of(judging.claim.left, judging.claim.rights, judging.paper)
    for pair, terms in judging.with_terms(pairs, difference):
        by_left.setdefault(pair.left.name, []).append(combine(terms))
    if judging.missing or not by_left:
        return judging.nothing
    seeds = min(estimate.seeds for each in by_left.values() for estimate in each)
    if seeds < findings.FEWEST_SEEDS:
        return Verdict("undecided", f"{seeds} of at least {findings.FEWEST_SEEDS} seeds", seeds=seeds)
    wins = sum(min(estimate.mean for estimate in each) > 0 for each in by_left.values())
    unknown = len({pair.left.name for pair in pairs}) - len(by_left)
    return findings.count(wins, judging.claim.value, **limits, unknown=unknown)


def cost(judging: Judging) -> Verdict:
    """Our cost is the value, amount × the right's, or less than it."""
    claim = judging.claim
    left = judging.number(values_at(claim.left, judging.paper)[0].at)
    right = judging.number(values_at(claim.rights[0], judging.paper)[0].at) if claim.rights else claim.value
    if left is None or right is None:
        return judging.nothing
    return findings.cost(left / right, claim.amount if claim.rights else 1.0)
