"""Compare results with numbers that others published: OK, near, FAIL, or the reason why they are not comparable.

stele tables references
stele tables references --strict       # exit code 1 if a number fails
"""

import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from stele import catalogue
from stele.artifacts.records import read_record
from stele.artifacts.results import read_placed, result_files
from stele.command.arguments import Job, ResultsFolder
from stele.errors import SteleError
from stele.files.formats import write_csv
from stele.published.verdicts import Verdict, verdicts

log = logging.getLogger(__name__)
COLUMNS = ("benchmark", "model", "language", "metric", "ours", "published", "difference", "tolerance", "verdict", "why")
COLUMNS += ("notes", "source", "locator", "revision", "status")


class References(Job):
    results_dir: ResultsFolder = Path("results")
    strict: bool = False
    """End with exit code 1 if a number fails the comparison."""
    format: Literal["text", "csv"] = "text"
    """Format of the comparison."""


def run(args: References) -> None:
    damaged: list[str] = []
    all_verdicts = list(of_folder(args.results_dir, damaged.append))
    for problem in damaged:
        log.error("%s", problem)
    if args.format == "csv":
        write_csv(sys.stdout, [COLUMNS, *map(row, all_verdicts)])
    else:
        sys.stdout.writelines(f"{line}\n" for line in as_text(all_verdicts))
    failed = sum(verdict.state == "FAIL" for verdict in all_verdicts)
    if args.strict and damaged:
        raise SteleError(f"{len(damaged)} results cannot be read; see the errors above")
    if args.strict and failed:
        raise SteleError(f"{failed} of {len(all_verdicts)} numbers differ from published ones; see the lines with FAIL")


def of_folder(results_dir: Path, damaged: Callable[[str], object]) -> Iterator[Verdict]:
    """Yields the verdicts on all results of a folder; passes the error of an unreadable result to `damaged`.

    Raises SteleError if the folder is missing.
    """
    aliases = catalogue.load("settings")["aliases"]
    for path in result_files(results_dir):
        try:
            result, record = read_placed(path, aliases), read_record(path)
        except SteleError as error:
            damaged(str(error))
            continue
        yield from verdicts(result, record)


def row(verdict: Verdict) -> list[str]:
    """Fields of one verdict, in the order of `COLUMNS`."""
    score = verdict.published
    place = [verdict.benchmark, verdict.model, verdict.language, verdict.metric]
    numbers = [f"{verdict.ours:.6g}", f"{score.value:g}", f"{verdict.difference:+.6f}", f"{score.tolerance:g}"]
    source = [score.source, score.locator, score.model_revision, score.status]
    return [*place, *numbers, verdict.state, verdict.why, "; ".join(verdict.notes), *source]


def as_text(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yields a line for each verdict, then a line with the number of verdicts in each state."""
    for verdict in verdicts:
        score = verdict.published
        place = f"{verdict.benchmark}/{verdict.model} {verdict.language} {verdict.metric}"
        numbers = f"{verdict.ours:.4f}, published {score.value:.4f} ({score.source}), {verdict.difference:+.4f}"
        notes = "; ".join(filter(None, (verdict.why, *verdict.notes)))
        yield f"{verdict.state}: {place}: {numbers}" + (f"; {notes}" if notes else "")
    counts = Counter(verdict.state for verdict in verdicts)
    yield ", ".join(f"{count} {state}" for state, count in counts.items()) or "no result has a published number"
