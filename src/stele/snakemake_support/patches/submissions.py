"""Submits jobs to SLURM: each only once, however often it is tried, with a note of its content."""

import functools
import sys
import threading
from pathlib import Path
from typing import Any

from stele.cluster import squeue
from stele.files.atomic import atomic_write_json
from stele.files.digests import digest
from stele.files.reading import read_note

SUBMITTED = Path(".snakemake/stele-submitted")
LONGEST_PAUSE = 300.0  # seconds between two submissions of a job that SLURM refuses for now
PATIENCE = 3600.0  # seconds of refusals while the user's queue is empty, so that no ending job can make room


def content(job: Any) -> str:
    """Digest of a job: its rule's command, inputs, outputs and params, but nothing that changes with attempts."""
    return digest(
        [job.rule.name, job.rule.shellcmd, *(list(map(str, part)) for part in (job.input, job.output, job.params))]
    )


def _path(job: Any) -> Path:
    return SUBMITTED / f"{digest([job.rule.name, list(map(str, job.output))])}.json"


def submitted(job: Any) -> str | None:
    """Digest (`content`) of a job at its last submission; None if there is no note."""
    return read_note(_path(job)).get("content")


def note(job: Any) -> None:
    """Notes the digest (`content`) of a job that is about to be submitted."""
    atomic_write_json(_path(job), {"content": content(job)})


class EarlierJobs:
    """Living jobs of earlier drivers in this folder, by comment; and the names under which they are queried."""

    def __init__(self) -> None:
        self.jobs: dict[str, squeue.Queued] | None = None
        self.names: list[str] = []
        self.lock = threading.Lock()

    def take(self, comment: str, run: str, again: bool) -> squeue.Queued | None:
        """Returns the earlier job with this comment, only once; None if there is none.

        `again`: this is a retry, so look in the queue anew; a submission that seemed to fail may have made a job.
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


def wildcards_of(job: Any) -> str:
    """Joins a job's wildcards and a digest of its outputs, for its comment and the folder of its log.

    The digest distinguishes jobs of two scales or results folders, which may run at the same time.
    """
    return ",".join([*job.wildcards, _path(job).stem[:8]]).replace("/", "_")


def comment_of(job: Any) -> str:
    """Comment that the plugin gives a job in SLURM's queue."""
    return f"rule_{job.name}_wildcards_{wildcards_of(job)}"


def submit(plugin: Any, run_job: Any, executor: Any, job: Any, earlier: EarlierJobs) -> str | None:
    """Submits a job, waiting while SLURM accepts no more; returns SLURM's message if it refuses for good, else None."""
    comment, again, seconds, alone = comment_of(job), job.attempt > 1, squeue.EVERY, 0.0
    refusal, passes = None, True
    while True:
        earlier_job = earlier.take(comment, executor.run_uuid, again)
        if earlier_job and submitted(job) == content(job):
            follow(plugin, executor, job, earlier_job, earlier)
            return None
        if earlier_job:
            executor.logger.info(f"SLURM job {earlier_job.id} is out of date; it is cancelled.")
            squeue.cancel([earlier_job.id])
        if not passes:
            return refusal
        note(job)
        squeue.controller()
        listening = _Listening(executor)
        run_job(listening, job)
        refusal = listening.refusal
        if refusal is None:
            return None
        again = True  # a submission that seems to have failed may have made a job
        queued = bool(squeue.living())
        alone = 0.0 if queued else alone + seconds
        passes = squeue.may_pass(refusal, queued) and alone <= PATIENCE
        if passes:
            _say_that_it_waits(refusal.partition("\n    sbatch call:")[0])
            squeue.pause(seconds)
            seconds = min(2 * seconds, LONGEST_PAUSE)


class _Listening:
    """Wrapper of the plugin's executor that stores the report of a refused submission in `refusal`."""

    def __init__(self, executor: Any) -> None:
        self.__dict__.update(executor=executor, refusal=None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.executor, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.executor, name, value)

    def _report_job_error_threadsafe(self, job_info: Any, msg: str) -> None:
        self.__dict__["refusal"] = msg


@functools.cache
def _say_that_it_waits(reason: str) -> None:
    print(
        f"Stele: SLURM takes no further job for now. Stele submits later, without using up an attempt. {reason}",
        file=sys.stderr,
        flush=True,
    )


def follow(plugin: Any, executor: Any, job: Any, queued: squeue.Queued, earlier: EarlierJobs) -> None:
    """Adopts the job of an earlier driver: the plugin then waits for it as for a job of this run."""
    log = executor.slurm_logdir / f"rule_{job.name}" / wildcards_of(job) / f"{queued.id}.log"
    earlier.follow(queued)
    executor.logger.info(
        f"Job {job.jobid} is SLURM job {queued.id} of an earlier run, {queued.state.lower()} (log: {log}): "
        "this run waits for it. To cancel such jobs instead: stele cluster cancel"
    )
    info = plugin.SubmittedJobInfo(job, external_jobid=queued.id, aux={"slurm_logfile": log})
    executor._report_job_submission_threadsafe(info)
