"""Patches of Snakemake's SLURM executor: in the driver, which submits jobs, and in each job on its node."""

import contextlib
import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from stele.cluster import squeue
from stele.errors import SteleError
from stele.snakemake_support.patches import JOBSTEP, SLURM, applies, misfit
from stele.snakemake_support.patches.snakemake_patches import record_on_nodes
from stele.snakemake_support.patches.submissions import EarlierJobs, content, submit, submitted, wildcards_of

EXPANDED = frozenset('$`\\%"')  # by the shell of the plugin's `--wrap="..."`, and in sbatch's `--output`
ARRAY = re.compile(r"(^|[\s'\"])(--array|-a)\b")
GONE = ("PREEMPTED", "NODE_FAIL")
GONE_ANSWERS = 3  # consecutive answers after which a job has failed


# --- in the driver ----------------------------------------------------------------------------------------------------
def refuse(workflow: Any) -> None:
    """Raises SteleError for options by which jobs would share a name, and for paths that nodes would not find."""
    extra = {str(getattr(rule.resources.get("slurm_extra"), "raw", "")) for rule in workflow.rules}
    options = {
        "slurm-array-jobs": workflow.executor_settings.array_jobs,
        "groups": ", ".join(workflow.group_settings.overwrite_groups),
        "SBATCH_ARRAY_INX": os.environ.get("SBATCH_ARRAY_INX"),
        "slurm_extra": next(filter(ARRAY.search, extra), ""),
    }
    for option, value in options.items():
        if value:
            raise SteleError(
                f"{option}: {value}: leave this out, on the command line, in profiles and in the environment: jobs of "
                "an array or group share one name in SLURM's queue, so a run could not tell which of them is there"
            )
    for path in (os.getcwd(), str(workflow.basedir), sys.executable):
        signs = EXPANDED.intersection(path)
        if signs:
            raise SteleError(
                f"{path}: SLURM jobs cannot find a path with {' '.join(sorted(signs))} in it, since sbatch or a shell "
                "replaces these characters; rename the folder"
            )


def patch_driver(workflow: Any) -> None:
    """Applies all patches of the driver, which need one another. Raises SteleError as `refuse` does."""
    if not applies(SLURM):  # like all other patches of this plugin
        return
    refuse(workflow)
    plugin, earlier = sys.modules["snakemake_executor_plugin_slurm"], EarlierJobs()
    plugin.get_job_wildcards = wildcards_of
    plugin.get_min_job_age = remembered(plugin.get_min_job_age, squeue.controller)
    for query in ("query_job_status_squeue", "query_job_status_sacct"):
        setattr(plugin, query, _with_names(getattr(plugin, query), earlier))
    plugin.query_job_status = ending(plugin.query_job_status)
    _look_again_soon(plugin.Executor)
    plugin.Executor.run_job = _careful(plugin, plugin.Executor.run_job, earlier)
    plugin.Executor.cancel = _at_once(plugin.Executor.cancel)


def remembered(question: Any, wait: Callable[[], None]) -> Any:
    """Wraps a query so that its first answer other than None is kept for the run; calls `wait` before it."""
    answers: list[Any] = []

    @functools.wraps(question)
    def ask() -> Any:
        if not answers:
            wait()
            answers.extend(answer for answer in [question()] if answer is not None)
        return answers[0] if answers else None

    return ask


def _look_again_soon(executor: Any) -> None:
    between = executor.next_seconds_between_status_checks

    def bounded(self: Any, seconds: float) -> None:
        most = 3 * self.workflow.executor_settings.init_seconds_before_status_checks
        between.fset(self, min(seconds, most))

    executor.next_seconds_between_status_checks = property(between.fget, bounded)


def _with_names(question: Any, earlier: EarlierJobs) -> Any:
    return functools.wraps(question)(lambda run: question(",".join([run, *earlier.names])))


def ending(question: Any) -> Any:
    """Wraps a query for job states so that a job that stays in a state of GONE for several answers counts as failed.

    A job that SLURM has forgotten for as long (MinJobAge) becomes unknown: the plugin takes it for ended, and Snakemake
    looks for its outputs.
    """
    gone_answers: dict[str, int] = {}

    @functools.wraps(question)
    async def ask(*arguments: Any) -> Any:
        states, seconds = await question(*arguments)
        if states is None:
            return states, seconds
        for job in gone_answers.keys() | states.keys():
            gone_answers[job] = gone_answers.get(job, 0) + 1 if states.get(job, GONE[0]) in GONE else 0
            if gone_answers[job] >= GONE_ANSWERS:
                states[job] = "FAILED" if job in states else "UNKNOWN"
        return states, seconds

    return ask


def _careful(plugin: Any, run_job: Any, earlier: EarlierJobs) -> Any:
    """Wraps `run_job` to submit a job only if no job of an earlier driver that does the same is still queued."""

    @functools.wraps(run_job)
    def run(self: Any, job: Any) -> None:
        try:
            refusal = submit(plugin, run_job, self, job, earlier)
            if refusal:
                job.attempt = 1 + job.restart_times  # the same request, or a larger one, would be refused again
        except Exception as error:  # in a thread of the plugin's, which would swallow it
            refusal = f"The job could not be submitted: {error} "
        if refusal and not squeue.interrupted.is_set():
            self._report_job_error_threadsafe(plugin.SubmittedJobInfo(job), refusal)

    return run


def _at_once(cancel: Any) -> Any:
    """Wraps `cancel` to drop pending submissions and cancel all jobs of the run, even those unknown to the driver."""

    @functools.wraps(cancel)
    def run(self: Any) -> None:
        squeue.interrupted.set()
        self._job_submission_executor.shutdown(cancel_futures=True)
        cancel(self)
        with contextlib.suppress(SteleError):
            squeue.query(["scancel", f"--name={self.run_uuid}"], timeout=0)

    return run


# --- on a node --------------------------------------------------------------------------------------------------------
def patch_node() -> None:
    """Applies the patches on a node; does nothing if an executor other than SLURM's runs the job."""
    if "slurm-jobstep" not in sys.argv:
        return
    plugin = sys.modules["snakemake_executor_plugin_slurm_jobstep"]
    if applies(JOBSTEP):
        plugin.subprocess = _Subprocess()
    if applies(JOBSTEP) and not misfit(SLURM):  # the driver notes what it submits
        plugin.Executor.run_job = _unchanged(plugin.Executor.run_job)
    record_on_nodes()


class _Subprocess:
    """Module `subprocess` whose children keep SLURM_CONF, which the plugin drops although srun may need it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, *arguments: Any, env: dict[str, str], **options: Any) -> subprocess.Popen:
        if "SLURM_CONF" in os.environ:
            env = env | {"SLURM_CONF": os.environ["SLURM_CONF"]}
        return subprocess.Popen(*arguments, env=env, **options)


def _unchanged(run_job: Any) -> Any:
    @functools.wraps(run_job)
    def run(self: Any, job: Any) -> None:
        if submitted(job) not in (None, content(job)):
            raise SteleError(
                f"rule {job.rule.name}, {', '.join(map(str, job.output))}: code, recipe or configuration changed after "
                "this job was submitted, so it does not run; start the workflow again"
            )
        run_job(self, job)

    return run
