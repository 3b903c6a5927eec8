"""Check the claims of papers: recompute each verdict on print, and compare it with the one that is stated.

    stele claims check [PAPER...]

All papers that have a claims.yaml, or those that are named. A verdict that differs is an error, as is an address that
a paper does not have; all are listed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stele.claims.judging.kinds import judge_on_print
from stele.claims.judging.on_print import Judgement
from stele.command.arguments import Job, Positional, SpecsFolder
from stele.errors import SteleError
from stele.files.formats import amount
from stele.papers.addresses import load_paper
from stele.papers.claims import FILE, Claim, load_claims, papers_with_claims
from stele.papers.paper import PAPER_TABLES


class Check(Job):
    papers: Positional[tuple[str, ...]] = ()
    """Default: all that have claims."""
    specs: SpecsFolder = PAPER_TABLES


def run(args: Check) -> None:
    problems = []
    for folder in papers_with_claims(args.specs, args.papers):
        judged = list(judge_paper(folder))
        print(summary(judged))
        problems += [judgement.problem for judgement in judged if judgement.problem]
    if problems:
        raise SteleError("\n".join(["the claims are not what the papers print:", *problems]))


def summary(judged: list[Judged]) -> str:
    """One line: how many claims a paper has, and how many of each verdict."""
    verdicts = Counter(judgement.verdict for judgement in judged)
    counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    main = sum(judgement.claim.main for judgement in judged)
    return f"{judged[0].paper}: {amount(len(judged), 'claim')}, {main} main: {counted}"


class Judged(NamedTuple):
    """A claim of a paper with its verdict on print, None where nothing can check it or the claim has an error."""

    paper: str
    claim: Claim
    judgement: Judgement | None
    error: str = ""

    @property
    def verdict(self) -> str:
        """The verdict on print, or why there is none."""
        return self.judgement.verdict if self.judgement else "wrong" if self.error else "not checkable"

    @property
    def why(self) -> str:
        """The numbers behind the verdict, what is wrong, or why nothing can check the claim."""
        return self.judgement.reason if self.judgement else self.error or self.claim.why

    @property
    def problem(self) -> str:
        """What is wrong: an address, or a stated verdict that is not that of the numbers."""
        if self.error:
            return self.error
        if self.judgement is None or self.claim.printed.verdict == self.judgement.verdict:
            return ""
        stated, printed = self.claim.printed.verdict, self.judgement
        return f"{self.paper}: claim {self.claim.key}: states {stated}, print says {printed.verdict}: {printed.reason}"


def problems(specs: Path) -> list[str]:
    """What is wrong with the claims of the papers below a folder of specs, or of the paper whose folder it is."""
    judged = (judgement for folder in papers_with_claims(specs) for judgement in judge_paper(folder))
    return [judgement.problem for judgement in judged if judgement.problem]


def judge_paper(folder: Path) -> Iterator[Judged]:
    """The claims of a paper's folder, in order, each judged on print."""
    claims, paper = load_claims(folder / FILE), load_paper(folder)
    for claim in claims.claims:
        try:
            yield Judged(claims.paper, claim, judge_on_print(claim, paper, claims.bars))
        except SteleError as error:
            yield Judged(claims.paper, claim, None, str(error))
