"""Plans the jobs of a Snakemake command in this process, as `snakemake --dry-run` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from stele.cluster.requests import JobRequest, job_requests
from stele.errors import SteleError
from stele.plan.plan import Plan
from stele.snakemake_support.patches import SNAKEMAKE, misfit

if TYPE_CHECKING:
    from snakemake.workflow import Workflow


def planned(arguments: Sequence[str], everything: bool, leave_out: str) -> tuple[Plan, list[JobRequest]]:
    """Returns the plan and the jobs of `snakemake` with these arguments; runs, locks and writes nothing.

    `everything` includes finished jobs. The target `leave_out` is not planned; without other targets, the workflow's
    default target is. Raises SteleError if Snakemake cannot plan, or the patch does not fit its version.
    """
    from snakemake import cli

    argv = patch.object(sys, "argv", ["snakemake", *arguments])  # profiles/default looks at it
    with argv, planning_only(everything) as workflows, redirect_stdout(sys.stderr):
        parser, args = cli.parse_args(list(arguments))
        args.dryrun, args.forceall = True, everything
        args.targets = [target for target in args.targets or () if target != leave_out]
        if not cli.args_to_api(args, parser) or not workflows:
            raise SteleError("Snakemake cannot plan this; see its message above")
    plan = workflows[0].globals["plan"]
    return plan, job_requests(plan, workflows[0].dag)


@contextmanager
def planning_only(everything: bool) -> Iterator[list[Workflow]]:
    """Context in which workflows are planned, not executed, and listed. SteleError with another Snakemake."""
    if difference := misfit(SNAKEMAKE):
        raise SteleError(f"jobs cannot be planned: {difference}")
    from snakemake.workflow import Workflow

    workflows: list[Workflow] = []

    def plan_only(workflow: Workflow, executor_plugin: Any, executor_settings: Any, **_: Any) -> None:
        """Replaces Workflow.execute, and has the same first lines."""
        workflow._executor_plugin = executor_plugin
        workflow._prepare_dag(everything, ignore_incomplete=True, lock_warn_only=True, nolock=True)
        workflow._build_dag()
        workflow.async_run(workflow.dag.postprocess(update_needrun=False, check_initial=True))
        workflows.append(workflow)

    with patch.object(Workflow, "execute", plan_only):
        yield workflows
