"""Check the claims of papers: recompute each verdict from the printed numbers and compare it with the stated one.

    stele claims check [PAPER...]

Without PAPER it checks all papers that have a claims.yaml. A verdict that differs from the stated one is an error, and
so is an address that the paper does not have; all errors are listed.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stele.claims.judging import on_print
from stele.claims.judging.on_print import Judgement
from stele.claims.judging.pairs import values_at
from stele.command.arguments import Job, Positional, SpecsFolder
from stele.errors import SteleError
from stele.files.formats import amount
from stele.papers.addresses import PrintedPaper, load_paper
from stele.papers.claims import FILE, Bars, Claim, by_reading, load_claims, papers_with_claims
from stele.papers.paper import PAPER_TABLES


class Check(Job):
    papers: Positional[tuple[str, ...]] = ()
    """Papers to check; default: all papers that have claims."""
    specs: SpecsFolder = PAPER_TABLES


def run(args: Check) -> None:
    problems = []
    for folder in papers_with_claims(args.specs, args.papers):
        judged = list(judge_paper(folder))
        verdicts = Counter(judgement.verdict for judgement in judged)
        counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        main = sum(judgement.claim.main for judgement in judged)
        print(f"{judged[0].paper}: {amount(len(judged), 'claim')}, {main} main: {counted}")
        problems += [judgement.problem for judgement in judged if judgement.problem]
    if problems:
        raise SteleError("\n".join(["these claims state verdicts that the printed numbers do not give:", *problems]))


class Judged(NamedTuple):
    """A claim of a paper with its verdict on the printed numbers; None if it cannot be checked or has an error."""

    paper: str
    claim: Claim
    judgement: Judgement | None
    error: str = ""

    @property
    def verdict(self) -> str:
        """The verdict on the printed numbers; "wrong" for a claim with an error, "not checkable" for one without."""
        return self.judgement.verdict if self.judgement else "wrong" if self.error else "not checkable"

    @property
    def why(self) -> str:
        """The numbers behind the verdict, the claim's error, or the reason why the claim cannot be checked."""
        return self.judgement.reason if self.judgement else self.error or self.claim.why

    @property
    def problem(self) -> str:
        """The error of the claim: a wrong address, or a stated verdict that the numbers contradict; "" if none."""
        if self.error:
            return self.error
        if self.judgement is None or self.claim.printed.verdict == self.judgement.verdict:
            return ""
        stated, printed = self.claim.printed.verdict, self.judgement
        return f"{self.paper}: claim {self.claim.key}: states {stated}, print says {printed.verdict}: {printed.reason}"


def problems(specs: Path) -> list[str]:
    """Lists the errors of all claims below `specs`, a folder of papers or of one paper."""
    judged = (judgement for folder in papers_with_claims(specs) for judgement in judge_paper(folder))
    return [judgement.problem for judgement in judged if judgement.problem]


def judge_paper(folder: Path) -> Iterator[Judged]:
    """Judges the claims of a paper's folder on the printed numbers, in order.

    An address that the paper does not have, or that cannot be compared, is the claim's error.
    """
    claims, paper = load_claims(folder / FILE), load_paper(folder)
    for claim in claims.claims:
        try:
            yield Judged(claims.paper, claim, _on_print(claim, paper, claims.bars))
        except SteleError as error:
            yield Judged(claims.paper, claim, None, f"{paper.paper}: claim {claim.key}: {error}")


def _on_print(claim: Claim, paper: PrintedPaper, bars: Bars) -> Judgement | None:
    """Judges a claim on the printed numbers, else by the reader's verdict; None if it cannot be checked."""
    if not claim.checkable:
        return None
    for address in claim.addresses():
        values_at(address, paper)  # raises; also checks the addresses of verdicts by reading
    if by_reading(claim):
        return Judgement(claim.printed.verdict, claim.printed.why)
    return getattr(on_print, claim.kind)(claim, paper, bars)
