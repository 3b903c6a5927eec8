"""The jobs that a Snakemake command would run, as plain data: its own plan, asked for in this process.

Nothing is run, locked or written: it is `snakemake --dry-run` up to where that would print its jobs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from stele.errors import SteleError
from stele.plan.plan import Plan


class Job(NamedTuple):
    """A job: its rule and stage, its wildcards, what it asks for, and the jobs (by number) that it waits for."""

    rule: str
    stage: str
    wildcards: Mapping[str, str]
    threads: int
    resources: Mapping[str, Any]
    after: tuple[int, ...]

    @property
    def name(self) -> str:
        """The rule and what it is about."""
        return " ".join([self.rule, *(f"{value}" for value in self.wildcards.values())])

    @property
    def devices(self) -> int:
        """GPUs, over all nodes."""
        return int(self.resources.get("gpus") or 0) * int(self.resources.get("nodes") or 1)


def planned(arguments: Sequence[str], everything: bool, leave_out: str) -> tuple[Plan, list[Job]]:
    """The plan and the jobs of `snakemake` with these arguments; with `everything`, those whose outputs are there too.

    The target `leave_out` is not planned; without another one it is the workflow's default target.
    """
    from snakemake import cli
    from snakemake.workflow import Workflow

    found: list[Workflow] = []

    def plan_only(workflow: Workflow, executor_plugin: Any, executor_settings: Any, **_: Any) -> None:
        """In place of Workflow.execute, whose first lines these are."""
        workflow._executor_plugin = executor_plugin
        workflow._prepare_dag(everything, ignore_incomplete=True, lock_warn_only=True, nolock=True)
        workflow._build_dag()
        workflow.async_run(workflow.dag.postprocess(update_needrun=False, check_initial=True))
        found.append(workflow)

    with (
        patch.object(sys, "argv", ["snakemake", *arguments]),  # profiles/default looks at it
        patch.object(Workflow, "execute", plan_only),
        redirect_stdout(sys.stderr),
    ):
        parser, args = cli.parse_args(list(arguments))
        args.dryrun, args.forceall = True, everything
        args.targets = [target for target in args.targets or () if target != leave_out]
        if not cli.args_to_api(args, parser) or not found:
            raise SteleError("Snakemake cannot plan this; what it says stands above")
    return found[0].globals["plan"], _plain(found[0])


def _plain(workflow: Any) -> list[Job]:
    """The jobs that are to be run, each after those that it waits for."""
    layers = workflow.dag.toposorted(set(workflow.dag.needrun_jobs()))
    jobs = [job for layer in layers for job in sorted(layer, key=lambda job: (job.rule.name, str(job.wildcards)))]
    number = {job: place for place, job in enumerate(jobs)}
    return [
        Job(
            job.rule.name,
            Path(job.rule.snakefile).stem,
            dict(job.wildcards_dict),
            job.threads,
            dict(job.resources),
            tuple(sorted(number[other] for other in workflow.dag.dependencies[job] if other in number)),
        )
        for job in jobs
    ]
