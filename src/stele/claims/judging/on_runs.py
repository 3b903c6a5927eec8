"""Findings on claims from our own runs, kind by kind: from a claim's addresses to the case that its family judges.

Pairs are made as for print (`stele.claims.judging.pairs`); their values come from a folder of results.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import eq, ge, gt

from stele.artifacts.records import GENERATED
from stele.claims.judging import findings
from stele.claims.judging.comparisons import (
    Contrast,
    Judging,
    by_language,
    by_seed,
    contrast_of,
    difference,
    mean_of,
    mean_terms,
    signed,
)
from stele.claims.judging.estimate import FEWEST_SEEDS, ROUNDING, Estimate, Term, combine
from stele.claims.judging.family import Case, extreme
from stele.claims.judging.findings import Compare, Finding, Verdict
from stele.claims.judging.pairs import (
    Pair,
    Parts,
    Value,
    bar_of,
    baseline_pairs,
    pairs_meant,
    pairs_of,
    rival_names,
    series_of,
    value_names,
    values_at,
    values_meant,
)
from stele.errors import SteleError
from stele.papers.claims import Claim

Signed = tuple[Pair, list[Term]]  # a pair with the terms of its difference, positive where it is as claimed
Test = Callable[[Sequence[Signed]], Finding]


def compared(
    judging: Judging,
    sign: Callable[[Pair], int],
    test: Test | None = None,
    times: float = 1.0,
    pairs: Sequence[Pair] = (),
) -> Case | Verdict:
    """Tests whether the left is above all its rivals: on average above each, or in as many cells as the claim says.

    By default `test` asks whether the left is greater, and `pairs` are the claim's. Claims of kind comparable and
    significant are tested cell by cell: differences of opposite sign would cancel out.
    """
    claim, pairs = judging.claim, pairs or pairs_meant(judging.claim, judging.paper)
    usable = judging.with_terms(pairs, lambda pair: difference(pair, times))
    if judging.missing or not usable:
        return judging.nothing
    bar = bar_of(pairs[0].left, judging.bars)
    by_rival = claim.quantifier in ("average", "each_language") and claim.kind not in ("comparable", "significant")
    names = rival_names([pair for pair, _ in usable])

    # cell -> rival -> its pairs, each with its signed terms
    groups: dict[str, dict[Parts, list[Signed]]] = {}
    cell_names = value_names([pair.left for pair, _ in usable])
    for pair, terms in usable:
        cell = "" if by_rival else cell_names[pair.left.name]
        groups.setdefault(cell, {}).setdefault(pair.rival, []).append((pair, signed(terms, sign(pair))))

    # findings on each rival, each cell, and all; two rows with the same result are one rival
    cells, repeated = {}, 0  # `repeated` counts among rivals of the whole claim
    for cell, rivals in groups.items():
        of_rivals: dict[str, Finding] = {}
        contrasts: set[Contrast] = set()
        for rival, compared_pairs in sorted(rivals.items(), key=lambda item: item[1][0][0].right.at.borrowed):
            contrast = contrast_of([pair for pair, _ in compared_pairs])
            if contrast in contrasts:
                repeated += by_rival
                continue
            contrasts.add(contrast)
            finding = test(compared_pairs) if test else _test_above(claim, compared_pairs, bar)
            finding = finding._replace(averaged=tuple(map(findings.greater, _parts(compared_pairs))))
            if times == 1:
                finding = finding._replace(printed=_printed(compared_pairs, sign))
            of_rivals[names[rival]] = finding
        judging.contrasts |= contrasts
        cells[cell] = findings.at_least(len(of_rivals), of_rivals)
    finding = findings.at_least(_enough(claim, len(cells)), cells)
    printed = len({pair.rival for pair in pairs}) - repeated
    judging.rivals = (len(names) - repeated, printed) if printed > 1 else None
    return _case(judging, finding, bar, [(pair.left, pair.right) for pair, _ in usable])


def _printed(compared_pairs: Sequence[Signed], sign: Callable[[Pair], int]) -> float | None:
    """Mean printed difference of the pairs; None if one of them is not printed."""
    if not all(pair.complete for pair, _ in compared_pairs):
        return None
    return math.fsum(sign(pair) * pair.difference for pair, _ in compared_pairs) / len(compared_pairs)


def _enough(claim: Claim, number: int) -> int:
    """Number of cells, out of `number`, that have to be as claimed."""
    return number // 2 + 1 if claim.quantifier == "most" else number


def _average(compared_pairs: Sequence[Signed]) -> Estimate:
    return mean_of([terms for _, terms in compared_pairs])


def _parts(compared_pairs: Sequence[Signed]) -> list[Estimate]:
    """Estimates of the parts of an average over pairs, by pair and language."""
    return [combine(terms) for _, combination in compared_pairs for terms in by_language(combination)]


def _test_above(claim: Claim, compared_pairs: Sequence[Signed], bar: float) -> Finding:
    """Tests whether pairs are above 0 on average, and, for "each_language", whether no language is reversed."""
    average = _average(compared_pairs)
    if claim.quantifier != "each_language":
        return findings.greater(average, bar)
    languages: dict[str, list[list[Term]]] = {}
    for pair, terms in compared_pairs:
        languages.setdefault(pair.left.at.target.language or pair.left.at.parts[-1], []).append(terms)
    of_languages = {code: mean_of(combinations) for code, combinations in languages.items()}
    return findings.without_reversal(average, of_languages, bar)


def _case(judging: Judging, finding: Finding, bar: float, comparisons: Sequence[Sequence[Value]]) -> Case:
    """Builds the claim's case, with the floor and extreme of the scores; `comparisons` lists the values compared."""
    scores = [judging.scores(values) for values in comparisons]
    tops = [values[0].at.scale for values in comparisons]
    lowest, of_paper = judging.claim.floor, judging.bars.floor
    if lowest is None and of_paper is not None:
        lowest = of_paper / 100 * tops[0]
    floor = (max(map(max, scores)), lowest) if lowest is not None and all(scores) else None
    extremes = [extreme(of_values, top, bar) for of_values, top in zip(scores, tops, strict=True)]
    return Case(finding, bar, floor, next(filter(None, extremes), ""))


def greater(judging: Judging) -> Case | Verdict:
    """Tests the claim that the left is larger than the right, or than a value."""
    if judging.claim.value is None:
        return compared(judging, lambda pair: 1)
    usable = judging.with_terms(values_meant(judging.claim, judging.paper), lambda value: value.terms)
    if judging.missing or not usable:
        return judging.nothing
    estimates = {value.name: combine(terms) for value, terms in usable}
    if judging.claim.quantifier == "average":
        estimates = {"all": mean_of([terms for _, terms in usable])}
    above, bar = {}, bar_of(usable[0][0], judging.bars)
    for name, estimate in estimates.items():
        difference_to_value = estimate.mean - judging.claim.value
        is_equal = math.isclose(estimate.mean, judging.claim.value, rel_tol=ROUNDING)
        above[name] = findings.greater(estimate._replace(mean=0.0 if is_equal else difference_to_value), bar)
    finding = findings.at_least(_enough(judging.claim, len(above)), above)
    return _case(judging, finding, bar, [[value] for value, _ in usable])


def best(judging: Judging) -> Case | Verdict:
    """Tests the claim that the left is better than each rival, in the direction of its column."""
    return compared(judging, lambda pair: pair.better)


def margin(judging: Judging) -> Case | Verdict:
    """Tests whether the left is above (for a negative amount, below) the right; at paper size also by how much."""
    claim, sign = judging.claim, 1 if judging.claim.amount >= 0 else -1
    if not judging.full_size:
        return compared(judging, lambda pair: sign)
    bar = bar_of(pairs_meant(claim, judging.paper)[0].left, judging.bars)
    is_limit = claim.at_least or claim.more_than
    return compared(
        judging, lambda pair: sign, lambda pairs: findings.margin(_average(pairs), abs(claim.amount), bar, is_limit)
    )


def ratio(judging: Judging) -> Case | Verdict:
    """Tests whether the left is above the right (for an amount below 1, below); for a limit, above amount × right."""
    amount = judging.claim.amount
    if judging.claim.at_least or judging.claim.more_than:
        return compared(judging, lambda pair: 1, times=amount)
    return compared(judging, lambda pair: 1 if amount >= 1 else -1)


def trend(judging: Judging) -> Case | Verdict:
    """Tests a trend: it rises or falls from end to end, no step reversed, or both neighbours of a peak are lower."""
    claim = judging.claim
    series = series_of(claim, judging.paper)
    usable = []
    for values in series:
        steps = [judging.terms(difference(Pair(after, before))) for before, after in pairwise(values)]
        if None not in steps:
            usable.append((values, steps))
    if judging.missing or not usable:
        return judging.nothing
    rows = [steps for _, steps in usable]
    if claim.quantifier == "average":
        rows = [[mean_terms(steps) for steps in zip(*rows, strict=True)]]
    bar = bar_of(series[0][0], judging.bars)
    trends = {usable[n][0][0].name: _trend(claim, steps, bar) for n, steps in enumerate(rows)}
    finding = findings.at_least(_enough(claim, len(trends)), trends)
    return _case(judging, finding, bar, [step for values, _ in usable for step in pairwise(values)])


def _trend(claim: Claim, steps: Sequence[Sequence[Term]], bar: float) -> Finding:
    if claim.shape == "peak":
        up, down = steps
        return findings.best({"the one before": combine(up), "the one after": combine(signed(down, -1))}, bar)
    sign = 1 if claim.shape == "rising" else -1
    steps = [signed(step, sign) for step in steps]
    ends = combine([term for step in steps for term in step])
    of_steps = {f"step {number}": combine(step) for number, step in enumerate(steps, start=1)}
    finding = findings.without_reversal(ends, of_steps, bar)
    of_languages = [combine(terms) for step in steps for terms in by_language(step)]
    return finding._replace(averaged=tuple(map(findings.greater, of_languages)))


def comparable(judging: Judging) -> Case | Verdict:
    """Tests the claim that two sides differ by less than the bar, in an average also in each of its languages."""
    bar = bar_of(pairs_meant(judging.claim, judging.paper)[0].left, judging.bars)
    return compared(judging, lambda pair: 1, lambda pairs: findings.comparable(_average(pairs), bar, _parts(pairs)))


def significant(judging: Judging) -> Case | Verdict:
    """Applies the paper's own test in each seed, against the right or, if none is named, the table's baseline row."""
    claim = judging.claim
    pairs = pairs_meant(claim, judging.paper) if claim.right else baseline_pairs(claim, judging.paper)
    usable = [pair for pair, _ in judging.with_terms(pairs, difference)]
    if judging.missing or not usable:
        return judging.nothing
    bar = bar_of(pairs[0].left, judging.bars)
    outcomes = by_seed(usable, judging.runs)

    def test(cell: Sequence[Signed]) -> Finding:
        of_seeds = outcomes[usable.index(cell[0][0])]
        return (findings.significant if claim.marked else findings.not_significant)(of_seeds, _average(cell), bar)

    return compared(judging, lambda pair: pair.better, test, pairs=pairs)


def count(judging: Judging) -> Verdict:
    """Judges a claimed count: of our cell's number, of cells with a number of ours, or of left cells above the right.

    The sizes of a generated world are chosen: there the first two kinds of count are no evidence, even if they agree.
    """
    claim = judging.claim
    compare = gt if claim.more_than else ge if claim.at_least else eq
    if claim.left is not None:
        return _count_of_wins(judging, compare)
    values = values_at(claim.of, judging.paper)
    found = [(value, judging.number(value.at)) for value in values]
    numbers = [number for _, number in found if number is not None]
    if judging.missing or not numbers:
        return judging.nothing
    left_out = sum(number is None and value.number is not None for value, number in found)
    counted: float = numbers[0] if len(values) == 1 else len(numbers)
    if compare is eq:
        counted = round(counted, len(repr(claim.value).partition(".")[2]))
    if GENERATED in judging.labels:
        return Verdict("no data", f"sizes of generated data are chosen ({counted:g}, claimed {claim.value:g})")
    return findings.count(counted, claim.value, compare, left_out)


def _count_of_wins(judging: Judging, compare: Compare) -> Verdict:
    by_left: dict[str, dict[str, Estimate]] = {}
    pairs = pairs_of(judging.claim.left, judging.claim.rights, judging.paper)
    for pair, terms in judging.with_terms(pairs, difference):
        by_left.setdefault(pair.left.name, {})[pair.right.name] = combine(terms)
    if judging.missing or not by_left:
        return judging.nothing
    seeds = min(estimate.seeds for rivals in by_left.values() for estimate in rivals.values())
    if seeds < FEWEST_SEEDS:
        return Verdict("undecided", f"{seeds} of at least {FEWEST_SEEDS} seeds", seeds=seeds)
    bar, unknown = bar_of(pairs[0].left, judging.bars), len({pair.left.name for pair in pairs}) - len(by_left)
    return findings.count_above(list(by_left.values()), bar, judging.claim.value, compare, unknown)


def cost(judging: Judging) -> Verdict:
    """Judges the claim that a cost is a value, `amount` times the right's, or less; SteleError for several cells."""
    claim = judging.claim
    values = [value.at for address in (claim.left, *claim.rights) for value in values_at(address, judging.paper)]
    if len(values) > 1 + bool(claim.rights):
        raise SteleError(f"a cost compares one cell with one; found {', '.join(value.name for value in values)}")
    if None in (numbers := [judging.number(value) for value in values]):
        return judging.nothing
    left, right = numbers[0], numbers[1] * values[0].scale / values[1].scale if claim.rights else claim.value
    if right == 0:
        return Verdict("no data", "nothing is a multiple of 0")
    return findings.cost(left / right, claim.amount if claim.rights else 1.0)
