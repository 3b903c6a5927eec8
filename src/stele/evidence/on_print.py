"""What the printed numbers say of a claim: it holds, it fails, or they leave it undecided.

Print has no intervals, so a comparison is one of numbers as they stand: a tie is not greater. Amounts and ratios hold
where the rounding of what is printed leaves them open. Cells without a number are left out and said; where nothing
remains, a claim is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from stele.errors import SteleError
from stele.evidence.pairs import (
    Pair,
    Value,
    pairs_meant,
    pairs_of,
    peak_of,
    series_of,
    values_at,
    values_meant,
)
from stele.papers.addresses import PrintedPaper, PrintedValue
from stele.papers.claims import Bars, Claim, Verdict, by_reading

EPSILON = 1e-9


@dataclass(frozen=True)
class Judgement:
    """A verdict with the numbers that it comes from, in words."""

    verdict: Verdict
    reason: str


def judge(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement | None:
    """The verdict on print; None for a claim that nothing can check, the reader's own where no numbers are named.

    Raises SteleError, which names the claim, for an address that the paper does not have or that cannot be compared.
    """
    if not claim.checkable:
        return None
    try:
        for address in claim.addresses():
            values_at(address, paper)  # those of a reader's verdict, too
        if by_reading(claim):
            return Judgement(claim.printed.verdict, claim.printed.why)
        return KINDS[claim.kind](claim, paper, bars)
    except SteleError as error:
        raise SteleError(f"{paper.paper}: claim {claim.key}: {error}") from None


def _decide(true: bool, reason: str) -> Judgement:
    return Judgement("holds" if true else "fails", reason)


def _complete(claim: Claim, paper: PrintedPaper) -> tuple[list[Pair], str]:
    """The pairs of a claim that are printed, those of its quantifier alone; and a note on the others."""
    pairs = pairs_meant(claim, paper)
    missing = [pair for pair in pairs if not pair.complete]
    first = missing[0].left.missing or missing[0].right.missing if missing else ""
    note = f"; {len(missing)} of {len(pairs)} comparisons are not printed ({first})" if missing else ""
    return [pair for pair in pairs if pair.complete], note


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _said(pair: Pair) -> str:
    return f"{pair.left.name} {pair.left.number:g}, {pair.right.name} {pair.right.number:g}"


def _holds_for(quantifier: str, differences: Sequence[float]) -> bool:
    """Whether differences are above 0 as a quantifier wants them."""
    if quantifier == "average":
        return _mean(differences) > EPSILON
    if quantifier == "each_language":  # none reversed: an equal number reverses nothing
        return _mean(differences) > EPSILON and min(differences) >= -EPSILON
    above = sum(difference > EPSILON for difference in differences)
    return above == len(differences) if quantifier == "all" else 2 * above > len(differences)


def _compared(
    claim: Claim, pairs: Sequence[Pair], note: str, sign: Callable[[Pair], int] = lambda pair: 1
) -> Judgement:
    """Whether the left is above all its rivals: on average each of them, else cell by cell."""
    if not pairs:
        return Judgement("undecided", f"no number to compare{note}")
    by: dict[tuple, list[Pair]] = {}
    together = claim.quantifier in ("average", "each_language")
    for pair in pairs:
        by.setdefault(pair.rival if together else pair.left.at.parts, []).append(pair)
    signed = [[sign(pair) * pair.difference for pair in group] for group in by.values()]
    if together:
        true = all(_holds_for(claim.quantifier, differences) for differences in signed)
    else:
        true = _holds_for(claim.quantifier, [min(differences) for differences in signed])
    if claim.quantifier == "average" and len(pairs) > len(signed):
        lowest = min(map(_mean, signed))
        least = f"{lowest:+.4g} on average" + (", the least of its rivals" if len(signed) > 1 else "")
        return _decide(true, f"{least}; {len(pairs)} comparisons{note}")
    closest = min(pairs, key=lambda pair: sign(pair) * pair.difference)
    above = sum(sign(pair) * pair.difference > EPSILON for pair in pairs)
    return _decide(true, f"{above} of {len(pairs)} comparisons; the least: {_said(closest)}{note}")


def greater(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """The left is the larger number."""
    if claim.value is not None:
        return _against_value(claim, paper, lambda number: number - claim.value)
    return _compared(claim, *_complete(claim, paper))


def best(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """The left is better than each rival, in the direction of its column."""
    pairs, note = _complete(claim, paper)
    return _compared(claim, pairs, note, lambda pair: -1 if pair.left.at.direction == "lower" else 1)


def _against_value(claim: Claim, paper: PrintedPaper, above: Callable[[float], float]) -> Judgement:
    values = values_meant(claim, paper)
    numbers = [value.number for value in values if value.number is not None]
    if not numbers:
        return Judgement("undecided", values[0].missing)
    shown = f"from {min(numbers):g} to {max(numbers):g}" if len(numbers) > 1 else f"{numbers[0]:g}"
    return _decide(_holds_for(claim.quantifier, [above(number) for number in numbers]), f"{values[0].name}: {shown}")


def margin(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Left minus right is the amount."""
    pairs, note = _complete(claim, paper)
    if not pairs:
        return Judgement("undecided", f"no number to compare{note}")
    entries = [(pair.difference, pair.difference - pair.error, pair.difference + pair.error) for pair in pairs]
    return _amounts(claim, entries, pairs, note)


def ratio(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """Left divided by right is the amount."""
    pairs, note = _complete(claim, paper)
    if not pairs:
        return Judgement("undecided", f"no number to compare{note}")
    return _amounts(claim, [pair.ratio for pair in pairs], pairs, note)


def _amounts(
    claim: Claim, entries: Sequence[tuple[float, float, float]], pairs: Sequence[Pair], note: str
) -> Judgement:
    """Whether numbers, each with the limits that rounding leaves open, are what a claim says."""
    if claim.quantifier == "average":
        entries = [tuple(map(_mean, zip(*entries, strict=True)))]
    agreeing = sum(_agrees(claim, claim.amount, *entry) for entry in entries)
    enough = 2 * agreeing > len(entries) if claim.quantifier == "most" else agreeing == len(entries)
    numbers = [entry[0] for entry in entries]
    shown = f"{numbers[0]:.4g}" if len(numbers) == 1 else f"from {min(numbers):.4g} to {max(numbers):.4g}"
    of = f": {_said(pairs[0])}" if len(pairs) == 1 else f" in {len(pairs)} comparisons"
    return _decide(enough, f"{shown}, claimed {claim.amount:g}{of}{note}")


def _agrees(claim: Claim, wanted: float, number: float, low: float, high: float) -> bool:
    """Whether a number, with the limits that rounding leaves open, is the wanted one, at least it, or more."""
    if claim.more_than:
        return number > wanted + EPSILON
    if claim.at_least:
        return number >= wanted - EPSILON
    decimals = len(repr(wanted).partition(".")[2])  # 7 is any number that rounds to it, 7.0 has one decimal
    return low - 0.5 * 10**-decimals <= wanted + EPSILON and wanted - EPSILON <= high + 0.5 * 10**-decimals


def trend(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """From point to point the numbers rise or fall, none the other way; or both neighbours of the peak are lower."""
    series = series_of(claim, paper)
    complete = [one for one in series if all(value.number is not None for value in one)]
    if not complete:
        lost = next(value.missing for one in series for value in one if value.missing)
        return Judgement("undecided", f"not all points are printed ({lost})")
    rows = [[value.number for value in one] for one in complete]
    if claim.quantifier == "average":
        rows = [[_mean(numbers) for numbers in zip(*rows, strict=True)]]
    following = sum(_follows(claim.shape, row, peak_of(claim)) for row in rows)
    enough = 2 * following > len(rows) if claim.quantifier == "most" else following == len(rows)
    shown = "; ".join(", ".join(f"{number:.4g}" for number in row) for row in rows[:3])
    return _decide(enough, f"{following} of {len(rows)} {claim.shape}: {shown}")


def _follows(shape: str | None, numbers: Sequence[float], peak: int) -> bool:
    if shape == "peak":
        return numbers[peak] > max(numbers[peak - 1], numbers[peak + 1]) + EPSILON
    steps = [(after - before) * (1 if shape == "rising" else -1) for before, after in pairwise(numbers)]
    return sum(steps) > EPSILON and min(steps) >= -EPSILON


def comparable(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """The numbers differ by no more than the bar."""
    pairs, note = _complete(claim, paper)
    if not pairs:
        return Judgement("undecided", f"no number to compare{note}")
    if any(pair.left.at.direction == "none" for pair in pairs):
        raise SteleError(f"{pairs[0].left.name} is no score: there is no bar for it")
    shares = [pair.difference / bar_of(pair.left, bars) for pair in pairs]
    if claim.quantifier == "average":
        shares = [_mean(shares)]
    within = sum(abs(share) <= 1 + EPSILON for share in shares)
    enough = 2 * within > len(shares) if claim.quantifier == "most" else within == len(shares)
    largest = max(pairs, key=lambda pair: abs(pair.difference))
    return _decide(enough, f"{within} of {len(shares)} within the bar; the largest: {_said(largest)}{note}")


def bar_of(value: Value, bars: Bars) -> float:
    """The smallest difference of interest, in the unit of a value."""
    own = bars.map if (value.at.metric or "").startswith("ap") else None
    return (own or bars.points / 100) * value.at.scale


def significant(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """The left bears the mark of its table for significance, and is the better one where a right is named.

    A mark says nothing of a right that is not the row which the table compares with.
    """
    if claim.right is not None and claim.marked:
        compared = best(claim, paper, bars)
        if compared.verdict != "holds":
            return compared
        other = [pair.right.at for pair in pairs_of(claim.left, claim.rights, paper) if not _is_baseline(pair.right.at)]
        if other:
            whom = f"compare with {other[0].baseline}" if other[0].baseline else "do not say with what they compare"
            return Judgement("undecided", f"the marks of {other[0].place} {whom}, not with {other[0].name}")
    values = values_meant(claim, paper)
    known = [value.at.significant for value in values if value.number is not None and value.at.significant is not None]
    if not known:
        return Judgement("undecided", f"{values[0].at.place} prints no mark of significance there")
    as_claimed = sum(mark == claim.marked for mark in known)
    enough = 2 * as_claimed > len(known) if claim.quantifier == "most" else as_claimed == len(known)
    return _decide(enough, f"{sum(known)} of {len(known)} are marked as significant")


def _is_baseline(value: PrintedValue) -> bool:
    """Whether a table's marks of significance compare with a value's row; they do where it marks nothing at all."""
    return value.significant is None or value.target.model == value.baseline


def count(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """One cell holds the value, so many cells have a number, or so many on the left are above all on the right."""
    if claim.left is not None:
        by_left: dict[str, list[Pair]] = {}
        for pair in pairs_of(claim.left, claim.rights, paper):
            by_left.setdefault(pair.left.name, []).append(pair)
        complete = [[pair.difference for pair in group if pair.complete] for group in by_left.values()]
        wins = [min(differences, default=0) > EPSILON for differences in complete]
        number, error, what = float(sum(wins)), 0.0, f"of {len(wins)} are above"
    else:
        values = values_at(claim.of, paper)
        if len(values) == 1 and values[0].number is None:
            return Judgement("undecided", values[0].missing)
        one = len(values) == 1
        number = values[0].number if one else float(sum(value.number is not None for value in values))
        error, what = (values[0].error, values[0].name) if one else (0.0, "cells with a number")
    return _decide(_agrees(claim, claim.value, number, number - error, number + error), f"{number:g} {what}")


def cost(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement:
    """The left costs what is said, less than the right, or so many times as much."""
    if claim.amount is not None:
        return ratio(claim, paper, bars)
    if claim.value is not None:
        (value, *_) = values_at(claim.left, paper)
        if value.number is None:
            return Judgement("undecided", value.missing)
        limits = (value.number - value.error, value.number + value.error)
        return _decide(_agrees(claim, claim.value, value.number, *limits), f"{value.name} {value.number:g}")
    return _compared(claim, *_complete(claim, paper), lambda pair: -1)


KINDS: dict[str, Callable[[Claim, PrintedPaper, Bars], Judgement]] = {
    "greater": greater,
    "best": best,
    "margin": margin,
    "ratio": ratio,
    "trend": trend,
    "comparable": comparable,
    "significant": significant,
    "count": count,
    "cost": cost,
}
