"""What Snakemake's SLURM executor (2.8.0, as locked) does not do, added while a workflow is read.

In the driver (`mend_driver`):
- an earlier driver's job that still runs is waited for and not submitted a second time; the plugin never looks;
- while the controller is away nothing is submitted, and the way of asking for states does not change: the plugin falls
  back to `sacct`, which a cluster without accounting has and cannot answer, and then forgets its jobs;
- the queue is looked at again after three times the first wait at most: the plugin waits 10 s longer each time until a
  job has succeeded, so that a failed one would be tried again minutes later;
- a job that was preempted, or whose node died, and that SLURM does not start again counts as failed, and one that
  SLURM has forgotten as ended: the plugin would wait for ever.

On a node (`mend_node`), where Snakemake reads the workflow anew:
- a job whose code, recipe or configuration changed since it was submitted refuses to run: the driver would record it
  under the old ones;
- what a job was made of is recorded there too, for a driver that dies before its jobs do.
- srun finds its cluster where only SLURM_CONF says which it is.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stele.cluster.requests import resources
from stele.cluster.slurm import squeue
from stele.errors import SteleError
from stele.files.atomic import atomic_file, digest
from stele.files.reading import read_note

SUBMITTED = Path(".snakemake/stele-submitted")
GONE = ("PREEMPTED", "NODE_FAIL")
PATIENCE = 3  # as many answers in a row that say so


def content(job: Any) -> str:
    """A digest of what a job is: its rule's command, inputs, outputs, params; of nothing that grows with attempts."""
    return digest(
        [job.rule.name, job.rule.shellcmd, *(list(map(str, part)) for part in (job.input, job.output, job.params))]
    )


def _note(job: Any) -> Path:
    return SUBMITTED / f"{digest([job.rule.name, list(map(str, job.output))])}.json"


def _noted(job: Any) -> dict[str, Any]:
    """What was noted of a job when it was submitted last."""
    return read_note(_note(job))


def submitted(job: Any) -> str | None:
    """What a job was when it was submitted last, None where nobody noted it."""
    return _noted(job).get("content")


def note(job: Any) -> None:
    """Notes what a job is and asks for when it is submitted, beside the SLURM jobs of its earlier attempts."""
    earlier = _noted(job).get("slurm", []) if job.attempt > 1 else []
    found = {"content": content(job), "rule": job.rule.name, "log": str(job.log[0]) if job.log else ""}
    with atomic_file(_note(job)) as handle:
        json.dump({**found, "asked": resources(job), "attempt": job.attempt, "slurm": earlier}, handle)


def note_start(job: Any) -> None:
    """Notes, on the node, which SLURM job a job is."""
    own, found = os.environ.get("SLURM_JOB_ID"), _noted(job)
    if own and found and own not in found.get("slurm", []):
        with atomic_file(_note(job)) as handle:
            json.dump({**found, "slurm": [*found.get("slurm", []), own]}, handle)


class Earlier:
    """Living jobs of earlier drivers in this folder, by comment; and the names under which they are asked for."""

    def __init__(self) -> None:
        self.jobs: dict[str, squeue.Queued] | None = None
        self.names: list[str] = []
        self.lock = threading.Lock()

    def take(self, comment: str, run: str, again: bool) -> squeue.Queued | None:
        """The earlier job of a comment, once.

        `again`: the job is tried again. A submission that seems to have failed may have made a job all the same.
        """
        with self.lock:
            if again:
                found = squeue.of_folder(Path.cwd())
                return next((job for job in found if job.comment == comment and job.state != "COMPLETING"), None)
            if self.jobs is None:
                found = squeue.of_folder(Path.cwd())
                self.jobs = {job.comment: job for job in found if job.name != run}
            return self.jobs.pop(comment, None)

    def follow(self, job: squeue.Queued) -> None:
        with self.lock:
            if job.name not in self.names:
                self.names.append(job.name)


def comment_of(plugin: Any, job: Any) -> str:
    """The comment that the plugin gives a job."""
    wildcards = plugin.get_job_wildcards(job)
    return f"rule_{job.name}_wildcards_{wildcards}" if wildcards else f"rule_{job.name}"


def _once(plugin: Any) -> bool:
    """Whether the plugin is there and not mended yet."""
    fresh = plugin is not None and not hasattr(plugin, "mended_by_stele")
    if fresh:
        plugin.mended_by_stele = True
    return fresh


def mend_driver() -> None:
    """Adds to the plugin what a driver needs. Nothing happens where jobs run here."""
    plugin = sys.modules.get("snakemake_executor_plugin_slurm")
    if not _once(plugin):
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
    squeue.ask(["sinfo", "--noheader", "--format=%P"])


def remembered(question: Any, wait: Callable[[], None]) -> Any:
    """A question whose first answer holds for the whole run; it is asked after `wait`."""
    answers: list[Any] = []

    @functools.wraps(question)
    def ask() -> Any:
        if not answers:
            wait()
            answer = question()
            if answer is None:
                return None
            answers.append(answer)
        return answers[0]

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
            if gone[job] >= PATIENCE:
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
            found = earlier.take(comment_of(plugin, job), self.run_uuid, again=job.attempt > 1)
            if found and submitted(job) == content(job):
                return _follow(plugin, self, job, found, earlier)
            if found:
                self.logger.info(f"SLURM job {found.id} does what is out of date by now; it is cancelled.")
                squeue.cancel([found.id])
            note(job)
            _controller()
            return run_job(self, job)
        except Exception as error:  # in a thread of the plugin's, where nobody would hear of it
            self._report_job_error_threadsafe(plugin.SubmittedJobInfo(job), f"It could not be submitted: {error} ")

    return run


def _follow(plugin: Any, executor: Any, job: Any, found: squeue.Queued, earlier: Earlier) -> None:
    """Takes an earlier driver's job for one's own."""
    log = executor.slurm_logdir / f"rule_{job.name}" / plugin.get_job_wildcards(job) / f"{found.id}.log"
    earlier.follow(found)
    executor.logger.info(
        f"Job {job.jobid} is SLURM job {found.id} of an earlier run, {found.state.lower()} (log: {log}): "
        "it is waited for. To cancel such jobs instead: stele cluster cancel"
    )
    info = plugin.SubmittedJobInfo(job, external_jobid=found.id, aux={"slurm_logfile": log})
    executor._report_job_submission_threadsafe(info)


def mend_node() -> None:
    """Adds to the plugin, and to Snakemake's records, what a job on a node needs."""
    plugin = sys.modules.get("snakemake_executor_plugin_slurm_jobstep")
    if not _once(plugin):
        return
    from snakemake.persistence import PersistenceBase

    plugin.subprocess = _Subprocess()
    plugin.Executor.run_job = _unchanged(plugin.Executor.run_job)
    PersistenceBase.finished = _recorded(PersistenceBase.finished)


class _Subprocess:
    """The standard module, whose children keep SLURM_CONF: the plugin drops it, and srun may not find its cluster."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, *arguments: Any, env: dict[str, str], **more: Any) -> subprocess.Popen:
        kept = {name: os.environ[name] for name in ("SLURM_CONF",) if name in os.environ}
        return subprocess.Popen(*arguments, env=env | kept, **more)


def _unchanged(run_job: Any) -> Any:
    @functools.wraps(run_job)
    def run(self: Any, job: Any) -> None:
        if not job.is_group() and submitted(job) not in (None, content(job)):
            raise SteleError(
                f"rule {job.rule.name}, {', '.join(map(str, job.output))}: code, recipe or configuration changed after "
                "this job was submitted, so it does not run; start the workflow again"
            )
        if not job.is_group():
            note_start(job)
        run_job(self, job)

    return run


def _recorded(finished: Any) -> Any:
    """Snakemake's own record of a finished job, written on a node too: only the mode of the run forbids it there."""

    @functools.wraps(finished)
    async def record(self: Any, job: Any) -> None:
        settings = self.dag.workflow.remote_execution_settings
        before = settings.immediate_submit
        settings.immediate_submit = True
        try:
            await finished(self, job)
        finally:
            settings.immediate_submit = before

    return record
