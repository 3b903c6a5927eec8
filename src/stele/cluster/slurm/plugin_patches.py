"""What is changed in Snakemake's SLURM executor (2.8.0, as locked): every patch of it, and what would make it needless.

In the driver (`patch_driver`):
run_job           An earlier driver's job that still runs is submitted a second time: the plugin never looks. While the
                  controller is away it submits all the same. Goes when the plugin looks for jobs of its comment in the
                  queue, and waits for the controller.
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

import functools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stele.cluster.slurm import squeue
from stele.cluster.slurm.submissions import content, note, note_start, submitted
from stele.errors import SteleError

GONE = ("PREEMPTED", "NODE_FAIL")
GONE_ANSWERS = 3  # in a row that say so: then a job has failed


class Earlier:
    """Living jobs of earlier drivers in this folder, by comment; and the names under which they are queried."""

    def __init__(self) -> None:
        self.jobs: dict[str, squeue.Queued] | None = None
        self.names: list[str] = []
        self.lock = threading.Lock()

    def take(self, comment: str, run: str, again: bool) -> squeue.Queued | None:
        """The earlier job of a comment, once.

        `again`: the job is tried again. A submission that seems to have failed may have made a job all the same.
        """
        with self.lock:
            jobs = squeue.of_folder(Path.cwd()) if again or self.jobs is None else []
            if again:
                return next((job for job in jobs if job.comment == comment and job.state != "COMPLETING"), None)
            if self.jobs is None:
                self.jobs = {job.comment: job for job in jobs if job.name != run}
            return self.jobs.pop(comment, None)

    def follow(self, job: squeue.Queued) -> None:
        with self.lock:
            if job.name not in self.names:
                self.names.append(job.name)


def comment_of(plugin: Any, job: Any) -> str:
    """The comment that the plugin gives a job."""
    wildcards = plugin.get_job_wildcards(job)
    return f"rule_{job.name}_wildcards_{wildcards}" if wildcards else f"rule_{job.name}"


def _unpatched(name: str) -> Any:
    """A plugin that is loaded and not patched yet, once; else None."""
    plugin = sys.modules.get(name)
    if plugin is None or hasattr(plugin, "patched_by_stele"):
        return None
    plugin.patched_by_stele = True
    return plugin


def patch_driver() -> None:
    """Adds to the plugin what a driver needs. Nothing happens where jobs run here."""
    if (plugin := _unpatched("snakemake_executor_plugin_slurm")) is None:
        return
    earlier = Earlier()
    plugin.get_min_job_age = remembered(plugin.get_min_job_age, _controller)
    for query in ("query_job_status_squeue", "query_job_status_sacct"):
        setattr(plugin, query, _with_names(getattr(plugin, query), earlier))
    plugin.query_job_status = ending(plugin.query_job_status)
    _look_again_soon(plugin.Executor)
    plugin.Executor.run_job = _careful(plugin, plugin.Executor.run_job, earlier)


def _controller() -> None:
    """Returns when the controller is there."""
    squeue.query(["sinfo", "--noheader", "--format=%P"])


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
            if job.is_group():
                return run_job(self, job)
            queued = earlier.take(comment_of(plugin, job), self.run_uuid, again=job.attempt > 1)
            if queued and submitted(job) == content(job):
                return _follow(plugin, self, job, queued, earlier)
            if queued:
                self.logger.info(f"SLURM job {queued.id} is out of date; it is cancelled.")
                squeue.cancel([queued.id])
            note(job)
            _controller()
            return run_job(self, job)
        except Exception as error:  # in a thread of the plugin's, where nobody would hear of it
            self._report_job_error_threadsafe(plugin.SubmittedJobInfo(job), f"It could not be submitted: {error} ")

    return run


def _follow(plugin: Any, executor: Any, job: Any, queued: squeue.Queued, earlier: Earlier) -> None:
    """Adopts an earlier driver's job."""
    log = executor.slurm_logdir / f"rule_{job.name}" / plugin.get_job_wildcards(job) / f"{queued.id}.log"
    earlier.follow(queued)
    executor.logger.info(
        f"Job {job.jobid} is SLURM job {queued.id} of an earlier run, {queued.state.lower()} (log: {log}): "
        "it is waited for. To cancel such jobs instead: stele cluster cancel"
    )
    info = plugin.SubmittedJobInfo(job, external_jobid=queued.id, aux={"slurm_logfile": log})
    executor._report_job_submission_threadsafe(info)


def patch_node() -> None:
    """Adds to the plugin, and to Snakemake's records, what a job on a node needs."""
    if (plugin := _unpatched("snakemake_executor_plugin_slurm_jobstep")) is None:
        return
    from stele.cluster.snakemake_patches import record_on_nodes

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
        if not job.is_group():
            if submitted(job) not in (None, content(job)):
                raise SteleError(
                    f"rule {job.rule.name}, {', '.join(map(str, job.output))}: code, recipe or configuration changed "
                    "after this job was submitted, so it does not run; start the workflow again"
                )
            note_start(job)
        run_job(self, job)

    return run
