"""What the jobs of each rule took together, and that as a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stele.files.durations import duration
from stele.files.markdown import bullets, table

Row = dict[str, Any]  # of a job: a column of `cluster usage` -> its value; None: unknown
FULL = 0.8  # of what a job requested: near the end that SLURM makes
LISTED = 20  # jobs that are named


@dataclass(frozen=True)
class Rule:
    """The jobs of a rule: hours of all of them, hours of the longest; None: unknown, or nothing was requested.

    expected    hours that those jobs were expected to take of which that is known, and `of_those` what they took
    time, memory    the largest share of what a job requested
    """

    name: str
    jobs: int
    hours: float
    longest: float
    cpu_hours: float
    gpu_hours: float
    expected: float | None
    of_those: float
    peak_mb: float | None
    time: float | None
    memory: float | None


def _most(rows: Sequence[Row], column: str) -> float | None:
    return max((row[column] for row in rows if row[column] is not None), default=None)


def by_rule(rows: Sequence[Row]) -> list[Rule]:
    """The rules, those that took most time first."""
    names = dict.fromkeys(row["rule"] for row in rows)
    rules = []
    for name in names:
        of_rule = [row for row in rows if row["rule"] == name]
        known = [row for row in of_rule if row["expected_s"]]
        one = Rule(
            name=name,
            jobs=len(of_rule),
            hours=sum(row["wall_s"] for row in of_rule) / 3600,
            longest=max(row["wall_s"] for row in of_rule) / 3600,
            cpu_hours=sum(row["cpu_s"] or 0 for row in of_rule) / 3600,
            gpu_hours=sum(row["gpu_hours"] for row in of_rule),
            expected=sum(row["expected_s"] for row in known) / 3600 if known else None,
            of_those=sum(row["wall_s"] for row in known) / 3600,
            peak_mb=_most(of_rule, "peak_mb"),
            time=_most(of_rule, "share_of_time"),
            memory=_most(of_rule, "share_of_memory"),
        )
        rules.append(one)
    return sorted(rules, key=lambda rule: -rule.hours)


def _share(value: float | None) -> str:
    if value is None:
        return ""
    return f"{100 * value:.{0 if value >= 0.1 else 1}f} %" if value >= 0.001 else "< 0.1 %"


HEAD = "rule | jobs | time | expected | longest | CPU time | GPU-hours | most memory | of the time | of the memory"


def markdown(rules: Sequence[Rule], rows: Sequence[Row]) -> str:
    """The page: a line a rule, the sum, and which jobs came near what they requested."""
    title, cells = "# What the jobs took", []
    if not rows:
        return f"{title}\n\nNo job of this scale was done here.\n"
    for rule in rules:
        hours = [rule.hours, rule.expected, rule.longest, rule.cpu_hours]
        spans = ["" if value is None else duration(3600 * value) for value in hours]
        peak = "" if rule.peak_mb is None else f"{rule.peak_mb:,.0f} MB"
        gpu = f"{rule.gpu_hours:,.1f}" if rule.gpu_hours else ""
        cells.append([rule.name, str(rule.jobs), *spans, gpu, peak, _share(rule.time), _share(rule.memory)])
    hours, cpu_hours = sum(rule.hours for rule in rules), sum(rule.cpu_hours for rule in rules)
    spans = [duration(3600 * hours), "", "", duration(3600 * cpu_hours)]
    gpu = sum(rule.gpu_hours for rule in rules)
    cells.append(["**all**", str(len(rows)), *spans, f"{gpu:,.1f}" if gpu else "", "", "", ""])
    parts = [
        title,
        table(HEAD.split(" | "), cells),
        "Time is that of all jobs one after the other. Expected is the estimate made before (`snakemake cost`). The"
        " last two columns are the largest share of what a job requested. Job by job, with where each figure is from:"
        " usage.csv.",
    ]
    near = sorted((row for row in rows if _share_used(row) >= FULL), key=_share_used, reverse=True)
    again = [row for row in rows if _starts(row) > 1]
    lists = {
        f"Jobs that took more than {100 * FULL:.0f} % of the time or of the memory that they requested": [
            f"{_name(row)}: {_share(_share_used(row))}" for row in near
        ],
        "Jobs that were started more than once": [f"{_name(row)}: {_starts(row)} times" for row in again],
    }
    parts += [bullets(title, items, LISTED) for title, items in lists.items() if items]
    return "\n\n".join(parts) + "\n"


def _name(row: Row) -> str:
    return f"{row['rule']} {row['job']}".strip()


def _share_used(row: Row) -> float:
    return max(row["share_of_time"] or 0, row["share_of_memory"] or 0)


def _starts(row: Row) -> int:
    return max(row["attempts"], row["slurm_starts"] or 0)
