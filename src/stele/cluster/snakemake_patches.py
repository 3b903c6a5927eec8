"""What is changed in Snakemake itself: every patch of it, each with what would make it needless.

The patches replace private parts, so each is for one series of versions (`VERSIONS`). With another one Snakemake stays
as it is, and that is said.

limit_rate        Allowed 100 jobs a second, the scheduler starts a timer of a second after every pass over the ready
                  jobs, whether or not the limit held one back; each timer starts another pass, which starts another
                  timer: hundreds of threads and passes a second in a long run. Goes when JobRateLimiter says whether it
                  held jobs back (tests/cluster/test_snakemake_patches.py fails then).
name_missing      MissingRuleException says that no rule makes a file, not which one is nearest, and is raised, and
                  caught, for files that exist. Goes when Snakemake suggests targets itself.
planning_only     The API has no call that returns the planned jobs. Goes when it does: Workflow.dryrun with a result.
add_defaults      (stele.cluster.resources) --default-resources of a command line replace those of a profile as a whole.
                  Goes when they add to them.
record_on_nodes   A job's record is written by the process that submitted it: one that dies before its jobs leaves them
                  without. Goes when PersistenceBase.finished writes in every mode.
"""

from __future__ import annotations

import functools
import importlib.metadata
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from stele.errors import SteleError

if TYPE_CHECKING:
    from snakemake.workflow import Workflow

SNAKEMAKE = "snakemake"
# the series of each package whose private parts are changed, here and in slurm/plugin_patches.py
VERSIONS = {
    SNAKEMAKE: "9.27",
    "snakemake-executor-plugin-slurm": "2.8",
    "snakemake-executor-plugin-slurm-jobstep": "0.6",
}


def other_version(package: str) -> str:
    """What is installed and what is wanted, where that is not the series of `VERSIONS`; else ""."""
    installed, wanted = importlib.metadata.version(package), VERSIONS[package]
    same = installed.split(".")[:2] == wanted.split(".")
    return "" if same else f"{package} {installed} is installed, and Stele is made for {wanted}.*"


@cache
def fits() -> bool:
    """Whether Snakemake is the version that is changed here; another one is named, once."""
    if other := other_version(SNAKEMAKE):
        print(f"Stele: {other}: its changes to Snakemake are left out; `make setup` installs that", file=sys.stderr)
    return not other


def limit_rate(scheduler: Any, local: bool) -> None:
    """Called when a run starts. `local`: its jobs run here, where the cores are the limit and there is no other."""
    if scheduler.job_rate_limiter is None or not fits():
        return
    if local:
        scheduler.job_rate_limiter = None
        return
    from snakemake.scheduling.job_scheduler import JobRateLimiter

    class RateLimiter(JobRateLimiter):
        """Snakemake's own, which also knows whether it held jobs back in the last pass."""

        reached = False

        def get_free_jobs(self) -> int:
            self._free = super().get_free_jobs()
            self.reached = self._free == 0
            return self._free

        def register_jobs(self, n_jobs: int) -> None:
            super().register_jobs(n_jobs)
            self.reached = n_jobs >= self._free

    limiter = scheduler.job_rate_limiter = RateLimiter(scheduler.workflow.scheduling_settings.max_jobs_per_timespan)
    running = threading.Event()  # one timer at a time

    def wake() -> None:
        running.clear()
        scheduler._open_jobs.release()

    def schedule(seconds: float) -> None:
        if limiter.reached and not running.is_set():
            running.set()
            timer = threading.Timer(seconds, wake)
            timer.daemon = True
            timer.start()

    scheduler._schedule_reevalutation = schedule


def name_missing(explain: Callable[[str], str]) -> None:
    """Has the error for a file that no rule makes say what `explain` says of it, when it is printed."""
    if not fits():
        return
    from snakemake import dag
    from snakemake.exceptions import MissingRuleException

    class NoRule(MissingRuleException):
        def __init__(self, file, **more) -> None:
            super().__init__(file, **more)
            self.file = str(file)

        def __str__(self) -> str:
            return explain(self.file)

    dag.MissingRuleException = NoRule


@contextmanager
def planning_only(everything: bool) -> Iterator[list[Workflow]]:
    """While this lasts, a workflow that is to be executed is planned only, and added to the list."""
    if other := other_version(SNAKEMAKE):
        raise SteleError(f"jobs cannot be planned: {other}; `make setup` installs that")
    from snakemake.workflow import Workflow

    planned: list[Workflow] = []

    def plan_only(workflow: Workflow, executor_plugin: Any, executor_settings: Any, **_: Any) -> None:
        """In place of Workflow.execute, whose first lines these are."""
        workflow._executor_plugin = executor_plugin
        workflow._prepare_dag(everything, ignore_incomplete=True, lock_warn_only=True, nolock=True)
        workflow._build_dag()
        workflow.async_run(workflow.dag.postprocess(update_needrun=False, check_initial=True))
        planned.append(workflow)

    with patch.object(Workflow, "execute", plan_only):
        yield planned


def record_on_nodes() -> None:
    """Has a job on a node write Snakemake's own record of it too: only the mode of the run forbids it there."""
    if not fits():
        return
    from snakemake.persistence import PersistenceBase

    finished = PersistenceBase.finished

    @functools.wraps(finished)
    async def record(self: Any, job: Any) -> None:
        settings = self.dag.workflow.remote_execution_settings
        before = settings.immediate_submit
        settings.immediate_submit = True
        try:
            await finished(self, job)
        finally:
            settings.immediate_submit = before

    PersistenceBase.finished = record
