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
from stele.cluster.cost_table import Estimate
from stele.cluster.planned_jobs import Job, planned
from stele.cost import rules
from stele.cost.work import Work, cpu_seconds, device, seconds
from stele.files.atomic import atomic_file
from stele.files.csv_files import write_csv


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="count what is built already, too")
    parser.add_argument("snakemake", nargs="*", metavar="-- ARGUMENTS", help="of snakemake; default target: all_tables")


def run(args: argparse.Namespace) -> None:
    plan, jobs = planned(args.snakemake, args.all, leave_out="cost")
    on = device(settings.read().gpu_model)
    works = [rules.work(plan, job.rule, dict(job.wildcards)) for job in jobs]
    found = [estimate(job, work or Work(), on) for job, work in zip(jobs, works, strict=True)]
    unknown = [job.name for job, work in zip(jobs, works, strict=True) if work is None]
    text = cost_table.markdown(plan, found, unknown, on, args.all)
    # beside the scale's own files: results/ may hold another scale
    with atomic_file(Path(plan.work("cost.md"))) as handle:
        handle.write(text)
    _write_jobs(Path(plan.work("cost.csv")), found)
    print(f"{text}\n(in {plan.work('cost.md')}; job by job in {plan.work('cost.csv')})")


def estimate(job: Job, work: Work, on: str) -> Estimate:
    """How long a job takes on the GPUs that it asks for, or on CPUs."""
    took = seconds(work, on, job.devices, job.threads)
    core = work.cpu_seconds if job.devices else cpu_seconds(work)
    return Estimate(job, work, took, took * job.devices, core)


COLUMNS = ("stage", "rule", "job", "hours", "gpus", "gpu_hours", "cpu_hours", "memory_mb", "limit_minutes")
COLUMNS += ("flops", "download_bytes", "kept_bytes", "temporary_bytes")


def _write_jobs(path: Path, found: list[Estimate]) -> None:
    with atomic_file(path, newline="") as handle:
        write_csv(handle, [COLUMNS, *map(_row, found)])


def _row(one: Estimate) -> list[Any]:
    job, work = one.job, one.work
    hours = [f"{value / 3600:.4g}" for value in (one.seconds, one.gpu_seconds, one.cpu_seconds)]
    sizes = [f"{value:.6g}" for value in (work.operations, work.download, work.kept, work.temporary)]
    asked = [job.resources.get("mem_mb"), job.resources.get("runtime")]
    return [job.stage, job.rule, job.name, hours[0], job.devices, *hours[1:], *asked, *sizes]
