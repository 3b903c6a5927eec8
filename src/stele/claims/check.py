"""Check the claims of papers: recompute each verdict on print, and compare it with the one that is stated.

    stele claims check [PAPER...]

All papers that have a claims.yaml, or those that are named. A verdict that differs is an error, as is an address that
a paper does not have; all are listed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from stele.errors import SteleError
from stele.evidence.recheck import Judged, judge_paper
from stele.papers.claims import papers_with_claims


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("papers", nargs="*", metavar="PAPER", help="default: all that have claims")
    parser.add_argument("--specs", type=Path, default=Path("paper_tables"), help="(default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    problems = []
    for folder in papers_with_claims(args.specs, args.papers):
        judged = list(judge_paper(folder))
        print(summary(judged))
        problems += [one.problem for one in judged if one.problem]
    if problems:
        raise SteleError("\n".join(["the claims are not what the papers print:", *problems]))


def summary(judged: list[Judged]) -> str:
    """One line: how many claims a paper has, and how many of each verdict."""
    verdicts = Counter(one.verdict for one in judged)
    counted = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    main = sum(one.claim.main for one in judged)
    return f"{judged[0].paper}: {len(judged)} claims, {main} main: {counted}"
