"""Patches that make dry runs fast and short, by skipping work whose results they do not show."""

import functools
from typing import Any

from stele.snakemake_support.patches import SNAKEMAKE, applies

LISTED = 20  # jobs that a dry run prints


def skip_environments() -> None:
    """Makes a dry run that deploys no software skip the environments of its jobs."""
    if not applies(SNAKEMAKE):
        return
    from snakemake.dag import DAG

    update = DAG.update_conda_envs

    @functools.wraps(update)
    def update_where_made(self: Any) -> None:
        if not self.workflow.dryrun or self.workflow.deployment_settings.deployment_method:
            update(self)

    DAG.update_conda_envs = update_where_made


def print_few_jobs() -> None:
    """Makes a dry run print single jobs only if `prints_jobs` is true."""
    from snakemake.executors.dryrun import Executor

    print_job, answers = Executor.printjob, {}

    @functools.wraps(print_job)
    def print_one_of_few(self: Any, job: Any) -> None:
        if id(self) not in answers:
            answers[id(self)] = prints_jobs(self.workflow)
        if answers[id(self)]:
            print_job(self, job)

    if applies(SNAKEMAKE):
        Executor.printjob = print_one_of_few


def prints_jobs(workflow: Any) -> bool:
    """Whether a dry run prints each job: if the plan is small, or the user asks for commands or all messages."""
    output, dag = workflow.output_settings, workflow.dag
    return output.printshellcmds or output.verbose or sum(map(dag.needrun, dag.jobs)) <= LISTED
