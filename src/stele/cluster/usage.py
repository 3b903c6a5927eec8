"""Write what every job took, against what it requested and was expected to take: usage.csv, and .md and .svg beside it.

    snakemake usage
    stele cluster usage --logs logs/paper --output results/usage.csv

A run writes it when it ends. Times differ from run to run: no table is made from these files, and no manifest has them.
Figures come from the benchmark files, the records of outputs, and SLURM's accounting where there is one.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from stele.cluster import requests
from stele.cluster.history import finished_jobs, summary
from stele.cluster.history.finished_jobs import FinishedJob
from stele.cluster.slurm import submissions
from stele.cluster.slurm.sacct import Account, accounts
from stele.command import arguments
from stele.files.atomic import atomic_file
from stele.files.formats import write_csv
from stele.files.reading import JsonObject

COLUMNS = ("rule", "job", "started", "wall_s", "wall_from", "cpu_s", "cpu_from", "peak_mb", "peak_from")
COLUMNS += ("threads", "processes", "gpus", "nodes", "gpu_hours", "device", "host", "requested_minutes")
COLUMNS += ("requested_mb", "expected_s", "share_of_time", "share_of_memory", "share_of_expected", "attempts")
COLUMNS += ("partition", "slurm_jobs", "slurm_state", "slurm_starts", "slurm_elapsed_s", "slurm_cpu_s")
COLUMNS += ("slurm_peak_mb",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--logs", required=True, help="the folder of a scale's logs, as logs/paper")
    parser.add_argument(
        "--output", type=arguments.output(".csv"), default=Path("results/usage.csv"), help="(default: %(default)s)"
    )


def run(args: argparse.Namespace) -> None:
    from pandas import DataFrame

    from stele.cluster.history.plot import draw
    from stele.files.formats import save_figure

    lines = rows(args.logs.rstrip("/"))
    with atomic_file(args.output, newline="") as handle:
        write_csv(handle, [COLUMNS, *(map(_shown, line.values()) for line in lines)])
    jobs = DataFrame(lines, columns=COLUMNS)
    rules = summary.by_rule(jobs)
    with atomic_file(args.output.with_suffix(".md")) as handle:
        handle.write(summary.markdown(rules, jobs))
    save_figure(draw(rules, jobs), args.output.with_suffix(".svg"), "What the jobs took")
    print(f"{len(jobs)} jobs: {args.output}, {args.output.with_suffix('.md')}, {args.output.with_suffix('.svg')}")


Row = dict[str, Any]  # a column -> its value; None: unknown


def rows(logs: str) -> list[Row]:
    """A row for each job whose log is in a folder and whose outputs are there, by the time at which they started."""
    done = list(finished_jobs.jobs(logs))
    plans, submitted = requests.read(), dict(submissions.notes())
    slurm = {log: note.get("slurm") or [] for log, note in submitted.items()}
    accounting = accounts(id for job in done for id in slurm.get(job.log, ()))
    of_jobs = {log: [accounting[id] for id in ids if id in accounting] for log, ids in slurm.items()}
    return [row(job, plans.get(job.log, {}), submitted.get(job.log, {}), of_jobs.get(job.log, [])) for job in done]


def row(job: FinishedJob, plan: JsonObject, submitted: JsonObject, accounting: list[Account]) -> Row:
    """A job's figures beside what it requested, in its last attempt where that one is known."""
    wanted = {**plan, **submitted.get("requested", {})}
    gpus, nodes = wanted.get("gpus", 0), wanted.get("nodes", 1)
    minutes, memory, expected = wanted.get("runtime"), wanted.get("mem_mb"), plan.get("seconds")
    wall, peak = job.wall_s, job.peak_mb
    figures = {
        **job._asdict(),
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(job.started)),
        "threads": wanted.get("threads"),
        "gpus": gpus * nodes,
        "nodes": nodes,
        "gpu_hours": gpus * nodes * wall / 3600,
        "requested_minutes": minutes,
        "requested_mb": memory,
        "expected_s": expected,
        "share_of_time": wall / (60 * minutes) if minutes else None,
        "share_of_memory": peak / memory if memory and peak is not None else None,
        "share_of_expected": wall / expected if expected else None,
        "attempts": submitted.get("attempt", 1),
        "partition": wanted.get("slurm_partition"),
        "slurm_jobs": " ".join(submitted.get("slurm", ())),
    }
    if accounting:
        figures |= {
            "slurm_state": accounting[-1].state,
            "slurm_starts": sum(one.starts for one in accounting),
            "slurm_elapsed_s": sum(one.elapsed for one in accounting),
            "slurm_cpu_s": sum(one.cpu for one in accounting),
            "slurm_peak_mb": max((one.peak_mb for one in accounting if one.peak_mb is not None), default=None),
        }
    return {name: figures.get(name) for name in COLUMNS}


def _shown(value: Any) -> Any:
    """A number with four digits; nothing where it is unknown."""
    return f"{value:.4g}" if isinstance(value, float) else value
