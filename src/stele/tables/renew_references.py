"""Renew the published numbers of references.tsv from clones of MTEB's results and of pyserini, by commit.

    stele tables renew_references CLONES                    # CLONES/results, CLONES/pyserini, either or both
    stele tables renew_references CLONES --output new.tsv

Numbers of a repository whose clone is there are replaced by what it holds at its commit; those of model cards and
papers stay. catalogue/reference_sources.yaml says which files are read, and which numbers are known to be broken.
"""

from __future__ import annotations

import argparse
import csv
import logging
from pathlib import Path

from stele import catalogue
from stele.catalogue.references import COLUMNS, FILE, read_references
from stele.catalogue.schema.published import ReferenceSources
from stele.files.atomic import atomic_file
from stele.files.reading import reading
from stele.tables.published.renewal import Row, renewed

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clones", type=Path, metavar="CLONES", help="the folder of the clones")
    parser.add_argument("--references", type=Path, default=FILE, help="what is renewed (default: the catalogue's)")
    parser.add_argument("--output", type=Path, metavar="FILE.tsv", help="default: in place")


def run(args: argparse.Namespace) -> None:
    read_references(args.references)  # what is wrong in it is said before anything is written
    with reading(args.references), args.references.open(encoding="utf-8", newline="") as handle:
        before = list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))
    sources = catalogue.whole(ReferenceSources)
    after = renewed(before, sources.mteb, sources.pyserini, args.clones)
    with atomic_file(args.output or args.references, newline="", encoding="utf-8") as handle:
        handle.writelines(
            "\t".join(line) + "\n" for line in [COLUMNS, *([row[key] for key in COLUMNS] for row in after)]
        )
        handle.flush()
        read_references(Path(handle.name))
    known, now = set(map(_number, before)), set(map(_number, after))
    log.info("%d numbers: %d new or changed, %d gone", len(after), len(now - known), len(known - now))


def _number(row: Row) -> tuple[str, ...]:
    """What a number is, wherever in its source it stands."""
    return tuple(row[key] for key in COLUMNS if key not in ("locator", "note"))
