"""Dispatch of claims by kind: the functions of its name judge it, on the printed numbers and on our own runs."""

from __future__ import annotations

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

# what a claim of each kind must have, `stele.papers.claims.NEEDS` says
SIZES = {"parameters"}  # metrics that say how large a model is


def judge_on_print(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement | None:
    """Judges a claim on the printed numbers; None if it cannot be checked. Without numbers the reader's verdict stands.

    Raises SteleError, which names the claim, for an address that the paper does not have or that cannot be compared.
    """
    if not claim.checkable:
        return None
    try:
        for address in claim.addresses():
            values_at(address, paper)  # also of a reader's verdict
        if by_reading(claim):
            return Judgement(claim.printed.verdict, claim.printed.why)
        return getattr(on_print, claim.kind)(claim, paper, bars)
    except SteleError as error:
        raise SteleError(f"{paper.paper}: claim {claim.key}: {error}") from None


def judge_on_runs(judging: Judging) -> Case | Verdict:
    """Compares a claim on our runs: a case for its family, which sets the level, or a verdict that needs no level.

    Raises SteleError, which names the claim, for an address that cannot be compared.
    """
    claim = judging.claim
    if by_reading(claim):
        return Verdict("no data", "a reader's verdict: no numbers are named")
    try:
        outcome = getattr(on_runs, claim.kind)(judging)
    except SteleError as error:
        raise SteleError(f"{judging.paper.paper}: claim {claim.key}: {error}") from None
    without_data = isinstance(outcome, Verdict) and outcome.state == "no data"
    of_sizes = any(reference.metric in SIZES for reference in judging.references)
    if of_sizes and not without_data and judging.labels & {GENERATED, STAND_IN}:
        # sizes that a scale has chosen are no evidence, whatever comes out
        return Verdict("no data", "sizes of stand-ins are chosen")
    return outcome
