"""What a run has built, in a few lines: jobs, time, cells by state, what failed with its log, and the page to open."""

from __future__ import annotations

import csv
import os
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from stele.files.formats import duration

LISTED = 8  # failed jobs


def states(tables: Iterable[str]) -> Counter[str]:
    """The cells of some tables (their CSV files) by state; a table that is not there has none.

    A cell of today's encoders has a line for each source, one after the other.
    """
    counts: Counter[str] = Counter()
    for path in tables:
        if Path(path).exists():
            with open(path, encoding="utf-8", newline="") as handle:
                counts.update(next(lines)[1]["state"] for _, lines in groupby(enumerate(csv.DictReader(handle)), _cell))
    return counts


def _cell(line: tuple[int, dict[str, str]]) -> object:
    """What the lines of one cell have in common: but for cells with sources, one line is one cell."""
    number, row = line
    return (row["row"], row["column"]) if "source" in row else number


def title(job: Any) -> str:
    """What a job does, in a line."""
    return job.message.partition("\n")[0] if job.message else job.rule.name


def page(dag: Any) -> str:
    """The page to open first of those that a run was to build; "" for none."""
    rules = ("all_tables", "today_tables", "table")
    pages = [sorted(job.output.html for job in dag.jobs if job.rule.name == rule) for rule in rules]
    return next((str(path) for path in chain.from_iterable(pages) if Path(path).exists()), "")


def lines(workflow: Any, seconds: float) -> list[str]:
    """The summary of a run that took so many seconds."""
    dag, failed = workflow.dag, workflow.scheduler.failed
    jobs = [job for job in dag.jobs if dag.needrun(job)]
    done = sum(dag.finished(job) for job in jobs)
    counts = {"done": done, "failed": len(failed), "not run": len(jobs) - done - len(failed)}
    summary = [
        f"{duration(seconds)}; jobs: {', '.join(f'{number} {what}' for what, number in counts.items() if number)}"
    ]
    for job in sorted(failed, key=lambda job: job.jobid)[:LISTED]:
        summary += [f"failed: {title(job)}", *(f"  {log}" for log in job.log)]
    if len(failed) > LISTED:
        summary.append(f"... and {len(failed) - LISTED} more that failed")
    cells = states(job.output.csv for job in dag.jobs if job.rule.name == "table")
    if cells:
        summary.append(f"cells: {', '.join(f'{number} {state}' for state, number in cells.most_common())}")
    if first := page(dag):
        summary.append(f"open {first}")
    return summary


def show(workflow: Any) -> None:
    """Prints the summary of a run that has ended, with its planning."""
    logs = [f"whole log: {os.path.relpath(log)}" for log in workflow.logger_manager.get_logfile()]
    seconds = (datetime.now() - workflow.start_time).total_seconds()
    print("", *lines(workflow, seconds), *logs, sep="\n", file=sys.stderr)
