"""What is changed in Snakemake's SLURM executor: every patch of it, and what would make it needless.

The patches replace private parts of one series of versions (`snakemake_patches.VERSIONS`); with another one, or another
Snakemake, a run on SLURM is refused, and any other run does not notice.

In the driver (`patch_driver`):
run_job           An earlier driver's job that still runs is submitted a second time: the plugin never looks. While the
                  controller is away, or takes no more jobs for now, the job has failed. Goes when the plugin looks for
                  jobs of its comment in the queue, and waits for the controller.
get_job_wildcards Joined by `_`, two jobs' wildcards may make one comment, and those of two scales do: a run takes the
                  other one's jobs for old ones of its own. Goes when a comment says what a job makes.
cancel            An interrupted driver waits until all its jobs are submitted. Goes when the plugin drops them.
two queries       `query_job_status_squeue`, `_sacct` query jobs of this run's name alone. Goes with the one above.
get_min_job_age   Where the controller does not answer it falls back to `sacct`, which a cluster without accounting has
                  and cannot answer, and then forgets its jobs. Goes when the answer is kept for the run.
query_job_status  A job that was preempted, or whose node died, and that SLURM does not start again is waited for
                  without end, and so is one that SLURM has forgotten. Goes when the plugin gives such jobs up.
next look         `next_seconds_between_status_checks` grows by 10 s until a job has succeeded, so that a failed one is
                  tried again minutes later. Goes when it has a bound that can be set.

On a node (`patch_node`), where Snakemake reads the workflow anew:
run_job           A job whose code, recipe or configuration changed since it was submitted runs, and the driver records
                  it under the old ones. Goes when a job brings what it was planned with and refuses another.
subprocess        srun starts without SLURM_CONF and finds no cluster where only that says which it is. Goes when the
                  jobstep plugin keeps it.
record_on_nodes   See stele.cluster.snakemake_patches.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from stele.cluster.slurm import squeue
from stele.cluster.slurm.submissions import Earlier, content, note_start, submit, submitted, wildcards
from stele.cluster.snakemake_patches import VERSIONS, other_version, record_on_nodes
from stele.errors import SteleError

EXPANDED = frozenset('$`\\%"')  # by the shell of the plugin's `--wrap="..."`, and in sbatch's `--output`
ARRAY = re.compile(r"(^|[\s'\"])(--array|-a)\b")
GONE = ("PREEMPTED", "NODE_FAIL")
GONE_ANSWERS = 3  # in a row that say so: then a job has failed


def _check_versions(*packages: str) -> None:
    """SteleError where a package is another version than the patches are for."""
    if other := "; ".join(filter(None, map(other_version, packages))):
        raise SteleError(f"{other}: `make setup` installs that; runs without SLURM work as they are")


def refuse(workflow: Any) -> None:
    """SteleError for what cannot be submitted: jobs that would share a comment, folders that nodes would not find."""
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
        if found := EXPANDED.intersection(path):
            raise SteleError(
                f"{path}: on SLURM no job finds a path with {' '.join(sorted(found))} in it, since sbatch or a shell "
                "replaces that: rename the folder"
            )


def patch_driver(workflow: Any) -> None:
    """Adds to the plugin what a driver needs that submits to SLURM."""
    _check_versions(*VERSIONS)
    refuse(workflow)
    plugin, earlier = sys.modules["snakemake_executor_plugin_slurm"], Earlier()
    plugin.get_job_wildcards = wildcards
    plugin.get_min_job_age = remembered(plugin.get_min_job_age, squeue.controller)
    for query in ("query_job_status_squeue", "query_job_status_sacct"):
        setattr(plugin, query, _with_names(getattr(plugin, query), earlier))
    plugin.query_job_status = ending(plugin.query_job_status)
    _look_again_soon(plugin.Executor)
    plugin.Executor.run_job = _careful(plugin, plugin.Executor.run_job, earlier)
    plugin.Executor.cancel = _at_once(plugin.Executor.cancel)


def remembered(question: Any, wait: Callable[[], None]) -> Any:
    """A query whose first answer is kept for the whole run; it runs after `wait`."""
    answers: list[Any] = []

    @functools.wraps(question)
    def ask() -> Any:
        if not answers:
            wait()
            answers.extend(answer for answer in [question()] if answer is not None)
        return answers[0] if answers else None

    return ask


def _look_again_soon(executor: Any) -> None:
    """Bounds the time between two looks at the queue."""
    between = executor.next_seconds_between_status_checks

    def bounded(self: Any, seconds: float) -> None:
        most = 3 * self.workflow.executor_settings.init_seconds_before_status_checks
        between.fset(self, min(seconds, most))

    executor.next_seconds_between_status_checks = property(between.fget, bounded)


def _with_names(question: Any, earlier: Earlier) -> Any:
    return functools.wraps(question)(lambda run: question(",".join([run, *earlier.names])))


def ending(question: Any) -> Any:
    """States of jobs, in which a job that is gone for several answers in a row has failed.

    One that SLURM has forgotten for as long (MinJobAge) is unknown: the plugin takes it for ended, and Snakemake looks
    for its outputs.
    """
    gone: dict[str, int] = {}

    @functools.wraps(question)
    async def ask(*arguments: Any) -> Any:
        states, seconds = await question(*arguments)
        if states is None:
            return states, seconds
        for job in gone.keys() | states.keys():
            gone[job] = gone.get(job, 0) + 1 if states.get(job, GONE[0]) in GONE else 0
            if gone[job] >= GONE_ANSWERS:
                states[job] = "FAILED" if job in states else "UNKNOWN"
        return states, seconds

    return ask


def _careful(plugin: Any, run_job: Any, earlier: Earlier) -> Any:
    """Submits a job, unless an earlier driver's job that does the same is still there."""

    @functools.wraps(run_job)
    def run(self: Any, job: Any) -> None:
        try:
            refusal = submit(plugin, run_job, self, job, earlier)
            if refusal:
                job.attempt = 1 + job.restart_times  # the same request, or a larger one, would be refused again
        except Exception as error:  # in a thread of the plugin's, where nobody would hear of it
            refusal = f"It could not be submitted: {error} "
        if refusal and not squeue.interrupted.is_set():
            self._report_job_error_threadsafe(plugin.SubmittedJobInfo(job), refusal)

    return run


def _at_once(cancel: Any) -> Any:
    """Ends what waits to be submitted, then cancels the run's jobs, those too that the driver has not heard of yet."""

    @functools.wraps(cancel)
    def run(self: Any) -> None:
        squeue.interrupted.set()
        self._job_submission_executor.shutdown(cancel_futures=True)
        cancel(self)
        with contextlib.suppress(SteleError):
            squeue.query(["scancel", f"--name={self.run_uuid}"], timeout=0)

    return run


def patch_node() -> None:
    """Adds to the plugin, and to Snakemake's records, what a job on a node needs. Nothing where it is not SLURM's."""
    if "slurm-jobstep" not in sys.argv:
        return
    _check_versions("snakemake-executor-plugin-slurm-jobstep")
    plugin = sys.modules["snakemake_executor_plugin_slurm_jobstep"]
    plugin.subprocess = _Subprocess()
    plugin.Executor.run_job = _unchanged(plugin.Executor.run_job)
    record_on_nodes()


class _Subprocess:
    """The standard module, whose children keep SLURM_CONF: the plugin drops it, and srun may not find its cluster."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, *arguments: Any, env: dict[str, str], **more: Any) -> subprocess.Popen:
        kept = {name: value for name, value in os.environ.items() if name == "SLURM_CONF"}
        return subprocess.Popen(*arguments, env=env | kept, **more)


def _unchanged(run_job: Any) -> Any:
    @functools.wraps(run_job)
    def run(self: Any, job: Any) -> None:
        if submitted(job) not in (None, content(job)):
            raise SteleError(
                f"rule {job.rule.name}, {', '.join(map(str, job.output))}: code, recipe or configuration changed after "
                "this job was submitted, so it does not run; start the workflow again"
            )
        note_start(job)
        run_job(self, job)

    return run
