"""Verdicts on claims from the printed numbers, kind by kind: holds, fails or undecided.

Print has no intervals, so numbers are compared as printed: a tie is not greater. Amounts and ratios hold if some
unrounded values satisfy them. Cells without a number are left out and counted; a claim without numbers is undecided.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from stele.claims.judging.pairs import (
    Pair,
    Value,
    bar_of,
    pairs_meant,
    pairs_of,
    series_of,
    values_at,
    values_meant,
)
from stele.errors import SteleError
from stele.papers.addresses import PrintedPaper, PrintedValue
from stele.papers.claims import Bars, Claim, Quantifier, Verdict

EPSILON = 1e-9


@dataclass(frozen=True)
class Judgement:
    """A verdict on the printed numbers, and those numbers in words."""

    verdict: Verdict
    reason: str


def _decide(true: bool, reason: str) -> Judgement:
    return Judgement("holds" if true else "fails", reason)


def _complete(claim: Claim, paper: PrintedPaper) -> tuple[list[Pair], str]:
    """Printed pairs to which a claim's quantifier applies, and a note on pairs that are not printed."""
    pairs = pairs_meant(claim, paper)
    missing = [pair.left.missing or pair.right.missing for pair in pairs if not pair.complete]
    note = f"; {len(missing)} of {len(pairs)} comparisons are not printed ({missing[0]})" if missing else ""
    return [pair for pair in pairs if pair.complete], note


def _nothing(note: str) -> Judgement:
    return Judgement("undecided", f"no number to compare{note}")


def _numbers(pair: Pair) -> str:
    return f"{pair.left.name} {pair.left.number:g}, {pair.right.name} {pair.right.number:g}"


def _range(numbers: Sequence[float], digits: str) -> str:
    """Formats one number, or the smallest and the largest of several."""
    if len(numbers) == 1:
        return f"{numbers[0]:{digits}}"
    return f"from {min(numbers):{digits}} to {max(numbers):{digits}}"


def _enough(quantifier: Quantifier, agreeing: int, total: int) -> bool:
    """Whether enough of a total agree: most for the quantifier "most", else all."""
    return 2 * agreeing > total if quantifier == "most" else agreeing == total


def _above(quantifier: Quantifier, differences: Sequence[float]) -> bool:
    """Whether differences are above 0 as a quantifier says: on average, in each language, in most, or in all."""
    if quantifier == "average":
        return fmean(differences) > EPSILON
    if quantifier == "each_language":  # no language may be reversed; ties are allowed
        return fmean(differences) > EPSILON and min(differences) >= -EPSILON
    return _enough(quantifier, sum(difference > EPSILON for difference in differences), len(differences))


def _compared(claim: Claim, paper: PrintedPaper, sign: Callable[[Pair], int]) -> Judgement:
    """Judges whether the left is above all its rivals: on average above each, or cell by cell."""
    pairs, note = _complete(claim, paper)
    if not pairs:
        return _nothing(note)
    by_rival = claim.quantifier in ("average", "each_language")
    groups: dict[tuple, list[float]] = {}
    for pair in pairs:
        group = pair.rival if by_rival else pair.left.at.parts
        groups.setdefault(group, []).append(sign(pair) * pair.difference)
    if by_rival:
        true = all(_above(claim.quantifier, differences) for differences in groups.values())
    else:
        true = _above(claim.quantifier, [min(differences) for differences in groups.values()])
    if claim.quantifier == "average" and len(pairs) > len(groups):
        least = f"{min(map(fmean, groups.values())):+.4g} on average"
        rivals = ", the least of its rivals" if len(groups) > 1 else ""
        return _decide(true, f"{least}{rivals}; {len(pairs)} comparisons{note}")
    closest = min(pairs, key=lambda pair: sign(pair) * pair.difference)
    above = sum(sign(pair) * pair.difference > EPSILON for pair in pairs)
    return _decide(true, f"{above} of {len(pairs)} comparisons; the least: {_numbers(closest)}{note}")


def greater(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Judges the claim that the left is larger than the right, or than a value."""
    if claim.value is None:
        return _compared(claim, paper, lambda pair: 1)
    values = values_meant(claim, paper)
    numbers = [value.number for value in values if value.number is not None]
    if not numbers:
        return Judgement("undecided", values[0].missing)
    true = _above(claim.quantifier, [number - claim.value for number in numbers])
    return _decide(true, f"{values[0].name}: {_range(numbers, 'g')}")


def best(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Judges the claim that the left is better than each rival, in the direction of its column."""
    return _compared(claim, paper, lambda pair: pair.better)


def margin(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Judges the claim that left minus right is the amount."""
    return _amounts(claim, paper, lambda pair: _limits(pair.difference, pair.error))


def ratio(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Judges the claim that left divided by right is the amount; undecided if rounding allows that the right is 0."""
    rights = [pair.right for pair in _complete(claim, paper)[0]]
    if zero := next((right for right in rights if abs(right.number) <= right.error), None):
        return Judgement("undecided", f"{zero.name} {zero.number:g} may be 0, by which nothing is divided")
    return _amounts(claim, paper, lambda pair: pair.ratio)


def _limits(number: float, error: float) -> tuple[float, float, float]:
    """Returns a number with the smallest and the largest unrounded value that round to it."""
    return number, number - error, number + error


def _amounts(claim: Claim, paper: PrintedPaper, measure: Callable[[Pair], tuple[float, float, float]]) -> Judgement:
    """Judges whether a measure of pairs, within its limits of rounding, is the claim's amount."""
    pairs, note = _complete(claim, paper)
    if not pairs:
        return _nothing(note)
    entries = [measure(pair) for pair in pairs]
    if claim.quantifier == "average":
        entries = [tuple(map(fmean, zip(*entries, strict=True)))]
    agreeing = sum(_agrees(claim, claim.amount, *entry) for entry in entries)
    numbers = _range([number for number, _, _ in entries], ".4g")
    where = f": {_numbers(pairs[0])}" if len(pairs) == 1 else f" in {len(pairs)} comparisons"
    true = _enough(claim.quantifier, agreeing, len(entries))
    return _decide(true, f"{numbers}, claimed {claim.amount:g}{where}{note}")


def _agrees(claim: Claim, wanted: float, number: float, low: float, high: float) -> bool:
    """Whether a number, within its limits of rounding `low` to `high`, is the wanted one, at least it, or more."""
    beyond = number - wanted if wanted >= 0 else wanted - number  # a negative limit is a loss, as on runs
    if claim.more_than or claim.at_least:
        return beyond > EPSILON if claim.more_than else beyond >= -EPSILON
    decimals = len(repr(wanted).partition(".")[2])  # 7 is any number that rounds to it, 7.0 has one decimal
    return low - 0.5 * 10**-decimals <= wanted + EPSILON and wanted - EPSILON <= high + 0.5 * 10**-decimals


def trend(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Judges the claim that numbers rise, or fall, from point to point, or that both neighbours of a peak are lower."""
    series = series_of(claim, paper)
    rows = [[value.number for value in values] for values in series]
    rows = [numbers for numbers in rows if None not in numbers]
    if not rows:
        missing = next(value.missing for values in series for value in values if value.missing)
        return Judgement("undecided", f"not all points are printed ({missing})")
    if claim.quantifier == "average":
        rows = [[fmean(numbers) for numbers in zip(*rows, strict=True)]]
    following = sum(_follows(claim.shape, row) for row in rows)
    shown = "; ".join(", ".join(f"{number:.4g}" for number in row) for row in rows[:3])
    true = _enough(claim.quantifier, following, len(rows))
    return _decide(true, f"{following} of {len(rows)} {claim.shape}: {shown}")


def _follows(shape: str | None, numbers: Sequence[float]) -> bool:
    if shape == "peak":
        before, peak, after = numbers
        return peak > max(before, after) + EPSILON
    steps = [(after - before) * (1 if shape == "rising" else -1) for before, after in pairwise(numbers)]
    return sum(steps) > EPSILON and min(steps) >= -EPSILON


def comparable(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Judges the claim that the two numbers of each cell differ by no more than the bar, allowing for rounding.

    Each cell is judged by itself, even in a claim about the average: differences of opposite sign would cancel out. For
    a printed average, the reason states how far its languages differ. Raises SteleError for numbers that are no scores.
    """
    pairs, note = _complete(claim, paper)
    if not pairs:
        return _nothing(note)
    if any(pair.left.at.direction == "none" for pair in pairs):
        raise SteleError(f"{pairs[0].left.name} is not a score, so no smallest difference of interest applies to it")
    within = sum(abs(pair.difference) - pair.error <= bar_of(pair.left, bars) + EPSILON for pair in pairs)
    largest = max(pairs, key=lambda pair: abs(pair.difference))
    true = _enough(claim.quantifier, within, len(pairs))
    languages = [difference for pair in pairs for difference in _by_language(pair, paper)]
    spread = f"; by language {_range(languages, '+.4g')}" if languages else ""
    return _decide(true, f"{within} of {len(pairs)} within the bar; the largest: {_numbers(largest)}{spread}{note}")


def _by_language(pair: Pair, paper: PrintedPaper) -> list[float]:
    """Differences in the languages printed beside a pair of averages; empty for other pairs."""
    if not pair.left.at.average or pair.left.subtracted or pair.right.subtracted:
        return []
    left, right = (_languages(value.at, paper) for value in (pair.left, pair.right))
    unit = pair.left.at.scale / pair.right.at.scale
    return [round(left[code] - unit * right[code], 9) for code in left.keys() & right.keys()]


def _languages(average: PrintedValue, paper: PrintedPaper) -> dict[str, float]:
    """Numbers by language that are printed in the line of an average."""
    numbers = {}
    for values in paper.tables.values():
        for value in values:
            in_line = (value.place, value.parts[:-1]) == (average.place, average.parts[:-1])
            if in_line and value.target.language and value.metric == average.metric and value.number is not None:
                numbers[value.target.language] = value.number
    return numbers


def significant(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Judges the claim that the left bears its table's mark of significance, and is better than the right, if named.

    A mark says nothing about a right side that is not the baseline row of the table's tests.
    """
    if claim.right is not None and claim.marked:
        compared = best(claim, paper, bars)
        if compared.verdict != "holds":
            return compared
        rivals = [pair.right.at for pair in pairs_of(claim.left, claim.rights, paper)]
        # of a table without marks the baseline is assumed
        others = [rival for rival in rivals if rival.significant is not None and rival.target.model != rival.baseline]
        if others:
            whom = f"compare with {others[0].baseline}" if others[0].baseline else "do not say with what they compare"
            return Judgement("undecided", f"the marks of {others[0].place} {whom}, not with {others[0].name}")
    values = values_meant(claim, paper)
    marks = [value.at.significant for value in values if value.number is not None]
    marks = [mark for mark in marks if mark is not None]
    if not marks:
        return Judgement("undecided", f"{values[0].at.place} prints no mark of significance there")
    true = _enough(claim.quantifier, sum(mark == claim.marked for mark in marks), len(marks))
    return _decide(true, f"{sum(marks)} of {len(marks)} are marked as significant")


def count(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Judges a claimed count: of a cell's number, of cells with a number, or of left cells above all right ones."""
    if claim.left is not None:
        by_left: dict[str, list[Pair]] = {}
        for pair in pairs_of(claim.left, claim.rights, paper):
            by_left.setdefault(pair.left.name, []).append(pair)
        least = [min((p.difference for p in pairs if p.complete), default=0) for pairs in by_left.values()]
        number = float(sum(difference > EPSILON for difference in least))
        return _decide(_agrees(claim, claim.value, number, number, number), f"{number:g} of {len(least)} are above")
    values = values_at(claim.of, paper)
    if len(values) == 1:
        return _single(claim, values[0], lambda value: f"{value.number:g} {value.name}")
    number = float(sum(value.number is not None for value in values))
    return _decide(_agrees(claim, claim.value, number, number, number), f"{number:g} cells with a number")


def _single(claim: Claim, value: Value, words: Callable[[Value], str]) -> Judgement:
    if value.number is None:
        return Judgement("undecided", value.missing)
    return _decide(_agrees(claim, claim.value, *_limits(value.number, value.error)), words(value))


def cost(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Compares the left cost with a value, with the right, or with amount × right."""
    if claim.amount is not None:
        return ratio(claim, paper, bars)
    if claim.value is not None:
        return _single(claim, values_at(claim.left, paper)[0], lambda value: f"{value.name} {value.number:g}")
    return _compared(claim, paper, lambda pair: -1)
