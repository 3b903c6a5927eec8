"""Estimate what a run costs before it starts: jobs, GPU-hours, CPU-hours, memory, bytes, the longest chain, by stage.

    snakemake --profile slurm cost                                   # everything that all_tables still needs
    stele cluster cost -- --profile slurm results/tables/msm/table_03.md

Arguments after `--` are Snakemake's own: profile, --config, targets. Operations are counted from the recipes, other
figures from sizes and measured rates; src/stele/catalogue/costs.yaml has every figure with its source.
"""

from pathlib import Path
from typing import Any

from stele.cluster import settings
from stele.cluster.cost_page import core_seconds, gpu_seconds, markdown
from stele.cluster.requests import JobRequest
from stele.cluster.work import Work, device
from stele.command.arguments import Job, Positional
from stele.files.atomic import atomic_file
from stele.files.formats import write_csv
from stele.snakemake_support.patches.planning import planned

COLUMNS = ("stage", "rule", "job", "hours", "gpus", "gpu_hours", "cpu_hours", "memory_mb", "limit_minutes")
COLUMNS += ("flops", "download_bytes", "kept_bytes", "temporary_bytes")


class Cost(Job):
    snakemake: Positional[tuple[str, ...]] = ()
    """Arguments of snakemake, after `--`; default target: all_tables."""
    all: bool = False
    """Count jobs whose results exist, too."""


def run(args: Cost) -> None:
    plan, jobs = planned(args.snakemake, args.all, leave_out="cost")
    text = markdown(plan, jobs, device(settings.read().gpu_model), args.all)
    # beside the scale's own files: results/ may hold another scale
    with atomic_file(Path(plan.paths.work("cost.md"))) as handle:
        handle.write(text)
    with atomic_file(Path(plan.paths.work("cost.csv")), newline="") as handle:
        write_csv(handle, [COLUMNS, *map(_csv_row, jobs)])
    print(f"{text}\n(in {plan.paths.work('cost.md')}; job by job in {plan.paths.work('cost.csv')})")


def _csv_row(job: JobRequest) -> list[Any]:
    work = job.work or Work()
    hours = [f"{value / 3600:.4g}" for value in (job.seconds or 0, gpu_seconds(job), core_seconds(job))]
    sizes = [f"{value:.6g}" for value in (work.operations, work.download, work.kept, work.temporary)]
    requested = [job.resources.get("mem_mb"), job.resources.get("runtime")]
    return [job.stage, job.rule, job.name, hours[0], job.devices, *hours[1:], *requested, *sizes]
