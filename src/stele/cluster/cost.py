"""Estimate what a run costs before it starts: jobs, GPU-hours, CPU-hours, memory, bytes, the longest chain, by stage.

    snakemake --profile slurm cost                                   # everything that all_tables still needs
    stele cluster cost -- --profile slurm results/tables/msm/table_03.md

What stands behind `--` is Snakemake's own command line: profile, --config, targets. Operations are counted from the
recipes, the rest from sizes and measured rates; src/stele/catalogue/costs.yaml has every figure with its source.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from stele.cluster import cost_table, settings
from stele.cluster.cost_table import core_seconds, gpu_seconds
from stele.cluster.planned_jobs import planned
from stele.cluster.requests import JobRequest
from stele.cost.work import Work, device
from stele.files.atomic import atomic_file
from stele.files.formats import write_csv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="count what is built already, too")
    parser.add_argument("snakemake", nargs="*", metavar="-- ARGUMENTS", help="of snakemake; default target: all_tables")


def run(args: argparse.Namespace) -> None:
    plan, jobs = planned(args.snakemake, args.all, leave_out="cost")
    text = cost_table.markdown(plan, jobs, device(settings.read().gpu_model), args.all)
    # beside the scale's own files: results/ may hold another scale
    with atomic_file(Path(plan.paths.work("cost.md"))) as handle:
        handle.write(text)
    with atomic_file(Path(plan.paths.work("cost.csv")), newline="") as handle:
        write_csv(handle, [COLUMNS, *map(_row, jobs)])
    print(f"{text}\n(in {plan.paths.work('cost.md')}; job by job in {plan.paths.work('cost.csv')})")


COLUMNS = ("stage", "rule", "job", "hours", "gpus", "gpu_hours", "cpu_hours", "memory_mb", "limit_minutes")
COLUMNS += ("flops", "download_bytes", "kept_bytes", "temporary_bytes")


def _row(job: JobRequest) -> list[Any]:
    work = job.work or Work()
    hours = [f"{value / 3600:.4g}" for value in (job.seconds or 0, gpu_seconds(job), core_seconds(job))]
    sizes = [f"{value:.6g}" for value in (work.operations, work.download, work.kept, work.temporary)]
    requested = [job.resources.get("mem_mb"), job.resources.get("runtime")]
    return [job.stage, job.rule, job.name, hours[0], job.devices, *hours[1:], *requested, *sizes]
