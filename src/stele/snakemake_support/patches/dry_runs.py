"""Patches that make dry runs fast and short, by skipping work whose results they do not show."""

import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from stele.snakemake_support.patches import SNAKEMAKE, Patch

LISTED = 20  # jobs that a dry run prints

SIGNATURES = Patch(  # get_function_params
    SNAKEMAKE,
    upstream="""Ask for the signature of an input function once

get_function_params calls inspect.signature for every function of every job, and for each of its resources three times:
45,000 calls in a plan of 1,900 jobs, a tenth of its time. Please keep the answer by function (functools.lru_cache).""",
    until="get_function_params keeps its answers",
)
NO_ENVIRONMENTS = Patch(  # DAG.update_conda_envs
    SNAKEMAKE,
    upstream="""Do not look for conda environments in a dry run without --sdm conda

DAG.update_conda_envs asks each job for its environment, for which all params of all jobs are worked out, although a dry
run without --software-deployment-method conda neither makes nor shows one. Please return at once there.""",
    until="update_conda_envs returns at once where no environment is made",
)
FEW_JOBS = Patch(  # dryrun.Executor.printjob
    SNAKEMAKE,
    upstream="""Print a large plan by rule

`snakemake -n` prints each job whole: a workflow of 4,000 jobs gives 40,000 lines, and most of the time goes into them.
Please let a profile ask for a summary above a number of jobs (--quiet rules prints none of a small plan either, and
takes as long, since each job is formatted before it is thrown away), and print jobs whole with --printshellcmds.""",
    until="a number of jobs can be set above which a dry run prints no single jobs, and does not format them",
)


def keep_signatures() -> None:
    """Makes Snakemake inspect the signature of each function only once."""
    if not SIGNATURES.applies():
        return
    from snakemake import common, rules

    if hasattr(common.get_function_params, "__wrapped__"):
        return  # in another workflow of this process
    common.get_function_params = rules.get_function_params = keeping_answers(common.get_function_params)


def keeping_answers(question: Callable[[Any], Mapping[str, Any]]) -> Callable[[Any], Mapping[str, Any]]:
    """Wraps a query for a callable's parameters with a cache; callables that cannot be hashed are asked each time."""
    cached = functools.lru_cache(maxsize=1024)(question)
    return functools.wraps(question)(lambda key: cached(key) if isinstance(key, Hashable) else question(key))


def skip_environments() -> None:
    """Makes a dry run that deploys no software skip the environments of its jobs."""
    if not NO_ENVIRONMENTS.applies():
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

    if FEW_JOBS.applies():
        Executor.printjob = print_one_of_few


def prints_jobs(workflow: Any) -> bool:
    """Whether a dry run prints each job: if the plan is small, or the user asks for commands or all messages."""
    output, dag = workflow.output_settings, workflow.dag
    return output.printshellcmds or output.verbose or sum(map(dag.needrun, dag.jobs)) <= LISTED
