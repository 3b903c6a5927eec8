"""How each kind of claim is judged: one table, with a function for the printed numbers and one for our own runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stele.artifacts.records import GENERATED, STAND_IN
from stele.claims.judging import on_print, on_runs
from stele.claims.judging.comparisons import Judging
from stele.claims.judging.family import Case
from stele.claims.judging.findings import Verdict
from stele.claims.judging.on_print import Judgement
from stele.claims.judging.pairs import values_at
from stele.errors import SteleError
from stele.papers.addresses import PrintedPaper
from stele.papers.claims import Bars, Claim, by_reading


class Kind(NamedTuple):
    on_print: Callable[[Claim, PrintedPaper, Bars], Judgement]
    on_runs: Callable[[Judging], Case | Verdict]


# what a claim of each kind must have, `stele.papers.claims.NEEDS` says
KINDS = {
    "greater": Kind(on_print.greater, on_runs.greater),
    "best": Kind(on_print.best, on_runs.best),
    "margin": Kind(on_print.margin, on_runs.margin),
    "ratio": Kind(on_print.ratio, on_runs.ratio),
    "trend": Kind(on_print.trend, on_runs.trend),
    "comparable": Kind(on_print.comparable, on_runs.comparable),
    "significant": Kind(on_print.significant, on_runs.significant),
    "count": Kind(on_print.count, on_runs.count),
    "cost": Kind(on_print.cost, on_runs.cost),
}
SIZES = {"parameters"}  # metrics that say how large a model is


def judge_on_print(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement | None:
    """The verdict on print; None for a claim that nothing can check, the reader's own where no numbers are named.

    Raises SteleError, which names the claim, for an address that the paper does not have or that cannot be compared.
    """
    if not claim.checkable:
        return None
    try:
        for address in claim.addresses():
            values_at(address, paper)  # also of a reader's verdict
        if by_reading(claim):
            return Judgement(claim.printed.verdict, claim.printed.why)
        return KINDS[claim.kind].on_print(claim, paper, bars)
    except SteleError as error:
        raise SteleError(f"{paper.paper}: claim {claim.key}: {error}") from None


def judge_on_runs(judging: Judging) -> Case | Verdict:
    """What our runs say of a claim, before its family sets the level at which it is judged.

    Raises SteleError, which names the claim, for an address that cannot be compared.
    """
    claim = judging.claim
    if by_reading(claim):
        return Verdict("no data", "a reader's verdict: no numbers are named")
    try:
        outcome = KINDS[claim.kind].on_runs(judging)
    except SteleError as error:
        raise SteleError(f"{judging.paper.paper}: claim {claim.key}: {error}") from None
    without_data = isinstance(outcome, Verdict) and outcome.state == "no data"
    of_sizes = any(reference.metric in SIZES for reference in judging.references)
    if of_sizes and not without_data and judging.labels & {GENERATED, STAND_IN}:
        # sizes that a scale has chosen are no evidence, whatever comes out
        return Verdict("no data", "sizes of stand-ins are chosen")
    return outcome
