"""The jobs that a Snakemake command would run, as plain data: its own plan, made in this process.

Nothing is run, locked or written: it is `snakemake --dry-run` up to where that would print its jobs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from unittest.mock import patch

from stele.cluster.requests import JobRequest, job_requests
from stele.errors import SteleError
from stele.plan.plan import Plan


def planned(arguments: Sequence[str], everything: bool, leave_out: str) -> tuple[Plan, list[JobRequest]]:
    """The plan and the jobs of `snakemake` with these arguments; with `everything`, those whose outputs are there too.

    The target `leave_out` is not planned; without another one it is the workflow's default target.
    """
    from snakemake import cli

    from stele.cluster.snakemake_patches import planning_only

    argv = patch.object(sys, "argv", ["snakemake", *arguments])  # profiles/default looks at it
    with argv, planning_only(everything) as workflows, redirect_stdout(sys.stderr):
        parser, args = cli.parse_args(list(arguments))
        args.dryrun, args.forceall = True, everything
        args.targets = [target for target in args.targets or () if target != leave_out]
        if not cli.args_to_api(args, parser) or not workflows:
            raise SteleError("Snakemake cannot plan this; see its message above")
    plan = workflows[0].globals["plan"]
    return plan, job_requests(plan, workflows[0].dag)
