"""List every claim of the papers: its words, place, kind, verdict on the printed numbers, and the reason.

stele claims list msm --format csv > claims.csv
"""

import sys
from collections.abc import Iterable
from typing import Literal

from stele.claims.check import Judged, judge_paper
from stele.command.arguments import Job, Positional, SpecsFolder
from stele.files.formats import write_csv
from stele.papers.claims import papers_with_claims
from stele.papers.paper import PAPER_TABLES

COLUMNS = ("paper", "key", "main", "kind", "places", "text", "stated", "print", "why", "issue")


class ListClaims(Job):
    papers: Positional[tuple[str, ...]] = ()
    """Papers whose claims are listed; default: all papers that have claims."""
    specs: SpecsFolder = PAPER_TABLES
    format: Literal["text", "csv"] = "text"
    """Format of the list."""


def run(args: ListClaims) -> None:
    judged = (judgement for folder in papers_with_claims(args.specs, args.papers) for judgement in judge_paper(folder))
    if args.format == "csv":
        write_csv(sys.stdout, [COLUMNS, *(row(judgement) for judgement in judged)])
    else:
        sys.stdout.writelines(as_text(judged))


def row(judged: Judged) -> list[str]:
    """Fields of one claim, in the order of `COLUMNS`."""
    claim = judged.claim
    return [
        judged.paper,
        claim.key,
        "yes" if claim.main else "",
        claim.kind,
        " ".join(claim.places),
        claim.text,
        claim.printed.verdict if claim.printed else "",
        judged.verdict,
        judged.why,
        claim.issue or "",
    ]


def as_text(judged: Iterable[Judged]) -> Iterable[str]:
    """Yields three lines per claim: its verdict and name, its words, and the reason of the verdict."""
    for judgement in judged:
        claim = judgement.claim
        main = ", main" if claim.main else ""
        places = ", ".join(claim.places)
        yield f"{judgement.verdict}: {judgement.paper}/{claim.key} ({claim.kind}{main}; {places})\n"
        yield f"  {claim.text}\n  {judgement.why}\n"
