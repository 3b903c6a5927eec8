"""The jobs that a Snakemake command would run, as plain data: its own plan, asked for in this process.

Nothing is run, locked or written: it is `snakemake --dry-run` up to where that would print its jobs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any
from unittest.mock import patch

from stele.cluster.requests import JobRequest, job_requests
from stele.errors import SteleError
from stele.plan.jobs import Jobs


def planned(arguments: Sequence[str], everything: bool, leave_out: str) -> tuple[Jobs, list[JobRequest]]:
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
    plan = found[0].globals["plan"]
    return plan, job_requests(plan, found[0].dag)
