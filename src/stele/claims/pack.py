"""Keep a folder of results: its values per query, how they came about, and the verdicts on the papers' claims.

    stele claims pack results evidence/study

Results of further seeds join those that are packed already; the claims must still be those of the first time. The
folder reads like one of results: `stele claims judge`, `stele tables verify --results-dir`, and all that draws tables.
"""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from stele.artifacts import results
from stele.claims.judge import judge, write_verdicts
from stele.errors import SteleError
from stele.evidence.packing import pack
from stele.files.paths import read_stamp

log = logging.getLogger(__name__)
LARGEST_MB = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", type=Path, help="folder of results")
    parser.add_argument("folder", type=Path, help="where they are kept")
    parser.add_argument("--work", type=Path, help="the scale's folder of work, for loss curves (default: work/{scale})")
    parser.add_argument("--specs", type=Path, default=Path("paper_tables"), help="(default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    if not args.results.is_dir():
        raise SteleError(f"{args.results}: no such folder of results")
    work = args.work or Path("work", Path(read_stamp(args.results) or "").stem)
    if args.work and not work.is_dir():
        raise SteleError(f"{work}: no such folder of work")
    seeds = pack(args.results, args.folder, args.specs, work)
    write_verdicts(judge(args.folder, args.specs, None), args.folder, args.specs, args.folder / "claims")
    results.write_manifest(args.folder)
    size = sum(path.stat().st_size for path in args.folder.rglob("*") if path.is_file())
    log.info("%s: %d results of single seeds, %.1f MB", args.folder, seeds, size / 1e6)
    if size > LARGEST_MB * 1_000_000:
        log.warning("%s: more than %d MB, which is much for a repository", args.folder, LARGEST_MB)
