"""Judge the claims of papers on runs of our own: a folder of results, `results/` or `evidence/study`.

    stele claims judge                                         # what results/ holds
    stele claims judge evidence/study --paper msm --format csv
    stele claims judge --output claims/msm.json claims/msm.csv --paper msm

Supported, no effect, reversed, undecided, floor or no data, with interval, seeds, control and uncorrected p. Nothing is
built; docs/evidence.md says how a verdict comes about. `looks.yaml` in the folder names the seeds of the first look.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from stele.claims.verdict_formats import FORMATS
from stele.command import arguments
from stele.config.scale import read_stamp
from stele.evidence.looks import load_looks
from stele.evidence.verdicts import JudgedClaim, judge_paper, runs_of
from stele.files.atomic import atomic_file
from stele.papers.claims import papers_with_claims


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path("results"), help="of results (default: %(default)s)"
    )
    parser.add_argument("--paper", nargs="+", metavar="PAPER", help="default: all that have claims")
    parser.add_argument("--specs", type=Path, default=Path("paper_tables"), help="(default: %(default)s)")
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="(default: %(default)s)")
    parser.add_argument(
        "--output",
        nargs="+",
        type=arguments.output(*(f".{name}" for name in FORMATS if name != "text")),
        metavar="FILE",
        help="written in place of being shown, as its ending says",
    )


def run(args: argparse.Namespace) -> None:
    judged, scale = judge(args.folder, args.specs, args.paper), read_stamp(args.folder) or ""
    for path in args.output or ():
        with atomic_file(path, newline="", encoding="utf-8") as handle:
            FORMATS[path.suffix.removeprefix(".")](judged, scale, args.specs, handle)
    if not args.output:
        shown = io.StringIO()
        FORMATS[args.format](judged, scale, args.specs, shown)
        sys.stdout.write(shown.getvalue())


def judge(folder: Path, specs: Path, papers: list[str] | None) -> list[JudgedClaim]:
    """The claims of the papers, in order, on one folder of results."""
    first, scale = runs_of(folder, 1), read_stamp(folder) or ""
    second = runs_of(folder, 2) if load_looks(folder) else None
    return [one for paper in papers_with_claims(specs, papers) for one in judge_paper(paper, first, second, scale)]
