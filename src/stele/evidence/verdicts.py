"""The verdicts of a paper's claims on a folder of results: families, looks, controls.

The main claims of a paper are one family under Holm's procedure, at each of two looks with half of the level. The
others are one under Benjamini and Hochberg's, judged at the first look's seeds alone: seeds are added for main claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stele.errors import SteleError
from stele.evidence import measured, power
from stele.evidence.estimate import Term, interval
from stele.evidence.judging import Judging, difference, mean_of
from stele.evidence.looks import load_looks
from stele.evidence.measured import ALPHA, Case, Verdict, judge_family
from stele.evidence.needed import control_pairs
from stele.evidence.observed import Runs
from stele.evidence.on_runs import assess
from stele.evidence.pairs import Pair
from stele.files.reading import read_object, reading
from stele.papers.addresses import PrintedPaper, load_paper
from stele.papers.claims import FILE, Bars, Claim, Control, load_claims

LOOKS = 2
FULL_SIZE = "paper"  # the scale at which the size of a margin means something
CONTEXT = Path("tables/context.json")
WITHOUT_P = Case(None, 0.0)  # a claim that was judged without its family
NOT_TO_BE_HAD = ("not built", "unavailable", "not in scale")


@dataclass(frozen=True)
class Shown:
    """A control beside a claim: left minus right, its own 95 % interval and uncorrected p; or why there is none.

    `diverged`: as of the claim.
    """

    what: str
    mean: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    seeds: int = 0
    reason: str = ""
    diverged: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict on runs, in the unit of its table; `share`: of a printed gain how much was measured.

    `diverged`: the results it was judged by whose pretraining came to nothing, with seeds and reasons.
    """

    paper: str
    claim: Claim
    verdict: Verdict
    look: int
    bar: float | None
    controls: tuple[Shown, ...]
    left_out: tuple[str, ...]
    missing: tuple[str, ...]
    share: float | None
    labels: tuple[str, ...]
    diverged: tuple[str, ...]


def runs_of(folder: Path, look: int) -> Runs:
    """A folder's results as one look sees them: the first at its own seeds, the second at all."""
    if not folder.is_dir():
        raise SteleError(f"{folder}: no such folder of results; build some first, e.g. with `make tables`")
    looks = load_looks(folder)
    left_out = {}
    if (folder / CONTEXT).is_file():
        with reading(folder / CONTEXT, "context of tables"):
            rows = read_object(folder / CONTEXT, "context of tables").get("rows", {})
            left_out = {
                name: f"{known['state']}: {known.get('reason', '')}"
                for name, known in rows.items()
                if known["state"] in NOT_TO_BE_HAD
            }
    return Runs(folder, looks.first if looks and look == 1 else None, left_out)


def judge_paper(folder: Path, first: Runs, second: Runs | None = None, scale: str = "") -> list[JudgedClaim]:
    """The claims of a paper's folder that something can check, in order, judged on the runs of one look or of both.

    `second` is given where there are seeds that the first has not.
    """
    claims, paper = load_claims(folder / FILE), load_paper(folder)
    checkable = [claim for claim in claims.claims if claim.checkable]
    judged = {one.claim.key: one for one in _look(checkable, paper, claims.bars, first, 1, scale)}
    again = [one.claim for one in judged.values() if one.claim.main and one.verdict.state == "undecided"]
    if second is not None and again:
        main = [claim for claim in checkable if claim.main]  # the family stays what it was
        seen = {one.claim.key: one for one in _look(main, paper, claims.bars, second, 2, scale)}
        judged |= {claim.key: seen[claim.key] for claim in again}
    return list(judged.values())


def _look(
    claims: Sequence[Claim], paper: PrintedPaper, bars: Bars, runs: Runs, look: int, scale: str
) -> Iterator[JudgedClaim]:
    judgings = [Judging(claim, paper, bars, runs, scale == FULL_SIZE) for claim in claims]
    outcomes = [assess(judging) for judging in judgings]
    verdicts = [outcome if isinstance(outcome, Verdict) else None for outcome in outcomes]
    for main, procedure, alpha in ((True, "holm", ALPHA / LOOKS), (False, "benjamini_hochberg", ALPHA)):
        family = [n for n, claim in enumerate(claims) if claim.main == main]
        cases = [outcomes[n] if verdicts[n] is None else WITHOUT_P for n in family]
        for n, verdict in zip(family, judge_family(cases, procedure, alpha), strict=True):
            verdicts[n] = verdicts[n] or verdict
    for judging, outcome, verdict in zip(judgings, outcomes, verdicts, strict=True):
        claim = judging.claim
        measured_gain = claim.kind == "margin" and verdict.mean is not None and not judging.full_size
        sign = -1 if claim.kind == "margin" and claim.amount < 0 else 1
        yield JudgedClaim(
            paper.paper,
            claim,
            verdict,
            look,
            outcome.bar if isinstance(outcome, Case) else None,
            tuple(_control(judging, control) for control in claim.controls if claim.rights),
            tuple(judging.left_out),
            tuple(judging.missing),
            power.share(sign * verdict.mean, claim.amount) if measured_gain else None,
            tuple(sorted(judging.labels)),
            tuple(judging.diverged),
        )


def _control(judging: Judging, control: Control) -> Shown:
    """The comparison of a control: on average over the claim's cells, each pair of systems once."""
    alone = Judging(judging.claim, judging.paper, judging.bars, judging.runs)
    pairs = control_pairs(judging.claim, control, judging.paper)
    usable = [_signed(pair, terms) for pair in pairs if (terms := alone.terms(difference(pair)))]
    what = _said(control)
    if alone.missing or not usable:
        return Shown(what, reason=alone.nothing.reason)
    found = mean_of(usable)
    limits, p = interval(found, ALPHA), measured.greater(found).p
    return Shown(what, found.mean, limits, p, found.seeds, diverged=tuple(alone.diverged))


def _signed(pair: Pair, terms: Sequence[Term]) -> list[Term]:
    sign = -1 if pair.left.at.direction == "lower" else 1
    return [one._replace(weight=sign * one.weight) for one in terms]


def _said(control: Control) -> str:
    sides = {"left": control.left, "right": control.right}
    return "; ".join(
        f"{side} {', '.join(f'{key} {value}' for key, value in target.model_dump(exclude_unset=True).items())}"
        for side, target in sides.items()
        if target
    )
