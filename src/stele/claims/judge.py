"""Judge the claims of papers on runs of our own: a folder of results, `results/` or `evidence/study`.

    stele claims judge                                         # what results/ holds
    stele claims judge evidence/study --paper msm --format csv
    stele claims judge --into results/claims                   # a .json and a .csv of each paper, as `snakemake claims`

Supported, no effect, reversed, undecided, floor or no data, with interval, seeds, control and uncorrected p. Nothing is
built; docs/evidence.md says how a verdict comes about. `looks.yaml` in the folder names the seeds of the first look.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from pathlib import Path

from stele.claims.formats.verdicts import FORMATS
from stele.evidence.looks import second_taken
from stele.evidence.verdicts import JudgedClaim, judge_paper, runs_of
from stele.files.atomic import atomic_file
from stele.files.paths import read_stamp
from stele.papers.claims import papers_with_claims


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path("results"), help="of results (default: %(default)s)"
    )
    parser.add_argument("--paper", nargs="+", metavar="PAPER", help="default: all that have claims")
    parser.add_argument("--specs", type=Path, default=Path("paper_tables"), help="(default: %(default)s)")
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="(default: %(default)s)")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="{paper}.json and .csv in it, nothing shown")


def run(args: argparse.Namespace) -> None:
    judged, scale = judge(args.folder, args.specs, args.paper), read_stamp(args.folder) or ""
    if args.into is None:
        shown = io.StringIO()
        FORMATS[args.format](judged, scale, args.specs, shown)
        sys.stdout.write(shown.getvalue())
        return
    write_verdicts(judged, args.folder, args.specs, args.into)


def judge(folder: Path, specs: Path, papers: list[str] | None) -> list[JudgedClaim]:
    """The claims of the papers, in order, on one folder of results."""
    first, scale = runs_of(folder, 1), read_stamp(folder) or ""
    second = runs_of(folder, 2) if second_taken(folder) else None
    return [one for paper in papers_with_claims(specs, papers) for one in judge_paper(paper, first, second, scale)]


def write_verdicts(judged: Sequence[JudgedClaim], folder: Path, specs: Path, into: Path) -> None:
    """Writes {paper}.json and {paper}.csv, of the claims that were judged on a folder of results."""
    scale = read_stamp(folder) or ""
    for paper in dict.fromkeys(one.paper for one in judged):
        for ending in ("json", "csv"):
            with atomic_file(into / f"{paper}.{ending}", newline="", encoding="utf-8") as handle:
                FORMATS[ending]([one for one in judged if one.paper == paper], scale, specs, handle)
