"""Hold results against the numbers that others published: OK, near, FAIL, or why they cannot be compared.

stele tables references
stele tables references --strict       # exit code 1 where one fails
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from stele import catalogue
from stele.artifacts.records import read_record
from stele.artifacts.results import read_placed, result_files
from stele.errors import SteleError
from stele.files.csv_files import write_csv
from stele.published.verdicts import Verdict, verdicts

log = logging.getLogger(__name__)
COLUMNS = ("benchmark", "model", "language", "metric", "ours", "published", "difference", "tolerance", "verdict", "why")
COLUMNS += ("notes", "source", "locator", "revision", "status")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--results-dir", type=Path, default=Path("results"), help="(default: %(default)s)")
    parser.add_argument("--strict", action="store_true", help="end with exit code 1 where a number fails")
    parser.add_argument("--format", choices=("text", "csv"), default="text", help="(default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    damaged: list[str] = []
    found = list(of_folder(args.results_dir, damaged.append))
    for what in damaged:
        log.error("%s", what)
    if args.format == "csv":
        write_csv(sys.stdout, [COLUMNS, *map(row, found)])
    else:
        sys.stdout.writelines(f"{line}\n" for line in as_text(found))
    failed = [one for one in found if one.state == "FAIL"]
    if args.strict and damaged:
        raise SteleError(f"{len(damaged)} results cannot be read, as said above")
    if args.strict and failed:
        raise SteleError(f"{len(failed)} of {len(found)} numbers are not the published ones; see the lines with FAIL")


def of_folder(results_dir: Path, damaged: Callable[[str], object]) -> Iterator[Verdict]:
    """The verdicts on all results of a folder; `damaged` is told of each that cannot be read, which is left out."""
    if not results_dir.is_dir():
        raise SteleError(f"{results_dir}: no such folder of results")
    aliases = catalogue.load("settings")["aliases"]
    for path in result_files(results_dir):
        try:
            result, record = read_placed(path, aliases), read_record(path)
        except SteleError as error:
            damaged(str(error))
            continue
        yield from verdicts(result, record)


def row(one: Verdict) -> list[str]:
    """One verdict, in the order of `COLUMNS`."""
    score = one.published
    numbers = [f"{one.ours:.6g}", f"{score.value:g}", f"{one.difference:+.6f}", f"{score.tolerance:g}"]
    place = [one.benchmark, one.model, one.language, one.metric]
    source = [score.source, score.locator, score.model_revision, score.status]
    return [*place, *numbers, one.state, one.why, "; ".join(one.notes), *source]


def as_text(found: Iterable[Verdict]) -> Iterator[str]:
    """A line a verdict, and how many there are of each."""
    found = list(found)
    for one in found:
        what = f"{one.benchmark}/{one.model} {one.language} {one.metric}"
        notes = "; ".join(filter(None, (one.why, *one.notes)))
        said = f"{one.ours:.4f}, published {one.published.value:.4f} ({one.published.source}), {one.difference:+.4f}"
        yield f"{one.state}: {what}: {said}" + (f"; {notes}" if notes else "")
    counts = Counter(one.state for one in found)
    yield ", ".join(f"{count} {state}" for state, count in counts.items()) or "no result has a published number"
