"""Summary of a finished run: its jobs, its cells by state, failures with their logs, the page to open."""

import csv
import os
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from stele.files.formats import duration

LISTED = 8  # failed jobs


def wanted() -> bool:
    """Whether the user wants an overview during this run and a summary at its end (STELE_PROGRESS=1)."""
    return os.environ.get("STELE_PROGRESS") == "1"


def states(tables: Iterable[str]) -> Counter[str]:
    """Counts the cells by state in some tables' CSV files; ignores files that do not exist.

    A cell of today's encoders has several lines in a row, one per source, and counts once.
    """
    counts: Counter[str] = Counter()
    for path in tables:
        if not Path(path).exists():
            continue
        with open(path, encoding="utf-8", newline="") as handle:
            previous = None
            for line in csv.DictReader(handle):
                cell = (line["row"], line["column"]) if "source" in line else None
                if cell is None or cell != previous:
                    counts[line["state"]] += 1
                previous = cell
    return counts


def title(job: Any) -> str:
    """First line of a job's message, or the name of its rule if it has none."""
    return job.message.partition("\n")[0] if job.message else job.rule.name


def page(dag: Any) -> str:
    """First existing HTML page among a run's outputs, with the page of all tables before others; "" if none."""
    for rule in ("all_tables", "today_tables", "table"):
        for path in sorted(str(job.output.html) for job in dag.jobs if job.rule.name == rule):
            if Path(path).exists():
                return path
    return ""


def summary_lines(workflow: Any, seconds: float) -> list[str]:
    """Lines of the summary of a run of `seconds`: jobs, cells by state, failures with their logs, the page to open."""
    dag, failed = workflow.dag, workflow.scheduler.failed
    jobs = [job for job in dag.jobs if dag.needrun(job)]
    done = sum(dag.finished(job) for job in jobs)
    counts = {"done": done, "failed": len(failed), "not run": len(jobs) - done - len(failed)}
    jobs_by_state = ", ".join(f"{number} {state}" for state, number in counts.items() if number)
    summary = [f"{duration(seconds)}; jobs: {jobs_by_state}"]
    for job in sorted(failed, key=lambda job: job.jobid)[:LISTED]:
        summary += [f"failed: {title(job)}", *(f"  {log}" for log in job.log)]
    if len(failed) > LISTED:
        summary.append(f"... and {len(failed) - LISTED} more that failed")
    cells = states(job.output.csv for job in dag.jobs if job.rule.name == "table")
    if cells:
        summary.append(f"cells: {', '.join(f'{number} {state}' for state, number in cells.most_common())}")
    first_page = page(dag)
    if first_page:
        summary.append(f"open {first_page}")
    return summary


def show_summary(workflow: Any) -> None:
    """Prints the summary of a finished run; its time includes planning."""
    logs = [f"whole log: {os.path.relpath(log)}" for log in workflow.logger_manager.get_logfile()]
    seconds = (datetime.now() - workflow.start_time).total_seconds()
    print("", *summary_lines(workflow, seconds), *logs, sep="\n", file=sys.stderr)
