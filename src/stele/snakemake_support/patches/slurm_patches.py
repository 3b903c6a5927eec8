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
from stele.snakemake_support.patches import JOBSTEP, SLURM, Patch
from stele.snakemake_support.patches.snakemake_patches import record_on_nodes
from stele.snakemake_support.patches.submissions import EarlierJobs, content, submit, submitted, wildcards_of

EXPANDED = frozenset('$`\\%"')  # by the shell of the plugin's `--wrap="..."`, and in sbatch's `--output`
ARRAY = re.compile(r"(^|[\s'\"])(--array|-a)\b")
GONE = ("PREEMPTED", "NODE_FAIL")
GONE_ANSWERS = 3  # consecutive answers after which a job has failed

# --- in the driver ----------------------------------------------------------------------------------------------------
FIND_EARLIER_JOBS = Patch(  # run_job; query_job_status_squeue and _sacct, which look for this run's name alone
    SLURM,
    upstream="""Find the jobs of a main process that was killed

Where the main process is killed (a login node reboots) its SLURM jobs run on. The next run submits them all a second
time, and two jobs write one output. Please look for living jobs with the same comment and working directory in the
queue before submitting, adopt them, and query their states under the names of their runs too (a comment in #109 plans
to let a run name the previous one).""",
    until="the plugin looks for a job's comment in the queue before it submits the job",
)
WAIT_FOR_CONTROLLER = Patch(  # run_job
    SLURM,
    upstream="https://github.com/snakemake/snakemake-executor-plugin-slurm/issues/320",  # and 313
    until="sbatch is repeated while the controller is away or takes no more jobs, without using up an attempt",
)
UNIQUE_COMMENTS = Patch(  # get_job_wildcards
    SLURM,
    upstream="""Two jobs can have one comment

get_job_wildcards joins wildcards by "_": the wildcards ("a_b", "c") and ("a", "b_c") make one comment and one folder of
logs, and so do the jobs of two configurations that differ in the outputs' folder. Please join by a sign that wildcards
cannot have, and add a digest of the outputs.""",
    until="a comment says which outputs a job makes",
)
CANCEL_AT_ONCE = Patch(  # cancel
    SLURM,
    upstream="""An interrupted run submits all its jobs before it cancels them

On SIGINT `shutdown(wait=True)` of the submission threads goes through all pending jobs first. Please call
`self._job_submission_executor.shutdown(cancel_futures=True)`, then cancel by the run's name, which has the jobs whose
ids the plugin has not heard of yet.""",
    until="the plugin drops pending submissions when it is interrupted",
)
KEEP_MIN_JOB_AGE = Patch(  # get_min_job_age
    SLURM,
    upstream="""MinJobAge is asked for anew with every status check

Where `scontrol show config` fails once (the controller restarts) get_min_job_age is None, and the status query falls
back to sacct. A cluster without accounting has a sacct that cannot answer, and all jobs count as lost. Please keep the
first answer for the run.""",
    until="the plugin keeps the answer for the run",
)
GIVE_UP_GONE_JOBS = Patch(  # query_job_status
    SLURM,
    upstream="""A preempted job that SLURM does not requeue is waited for without end

PREEMPTED and, with --slurm-requeue, NODE_FAIL are left to SLURM (#109, #411). Where the partition does not requeue, the
state stays and the run never ends; the same holds for a job that the controller has forgotten. Please count such a job
as failed after several status checks in a row.""",
    until="the plugin gives up jobs that stay in these states",
)
LOOK_AGAIN_SOON = Patch(  # next_seconds_between_status_checks
    SLURM,
    upstream="""An upper bound for the time between status checks

next_seconds_between_status_checks grows by 10 s up to 180 s until a job has succeeded, so that a failed job is tried
again three minutes later. Please make max_sleep_time a setting.""",
    until="the bound (max_sleep_time) is a setting",
)

# --- on a node --------------------------------------------------------------------------------------------------------
REFUSE_CHANGED_JOBS = Patch(  # run_job
    JOBSTEP,
    upstream="""A job runs with what was changed after its submission

On its node a job reads the workflow anew. Code or configuration that was edited while it waited in the queue is what
runs, and the main process records it under the old one. Please compare a digest of the job (command, inputs, outputs,
params) with the one at its submission, and fail where they differ.""",
    until="a job brings the plan that it was submitted with and refuses another",
)
KEEP_SLURM_CONF = Patch(  # subprocess.Popen
    JOBSTEP,
    upstream="https://github.com/snakemake/snakemake-executor-plugin-slurm/issues/334",  # and 164
    until="the plugin keeps SLURM_CONF for srun",
)


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
    if not FIND_EARLIER_JOBS.applies():  # like all other patches of this plugin
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


def patch_node() -> None:
    """Applies the patches on a node; does nothing if an executor other than SLURM's runs the job."""
    if "slurm-jobstep" not in sys.argv:
        return
    plugin = sys.modules["snakemake_executor_plugin_slurm_jobstep"]
    if KEEP_SLURM_CONF.applies():
        plugin.subprocess = _Subprocess()
    if REFUSE_CHANGED_JOBS.applies() and not FIND_EARLIER_JOBS.misfit():  # the driver notes what it submits
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
