"""Patches of Snakemake: rate limit, default resources, missing targets, removed results, locks, records."""

from __future__ import annotations

import ast
import contextlib
import functools
import os
import re
import signal
import threading
import time
from collections import defaultdict
from typing import Any, NoReturn

import psutil

from stele.cluster import resources
from stele.command.worker import child_of
from stele.errors import SteleError, nearest
from stele.plan.plan import Plan
from stele.snakemake_support import locks
from stele.snakemake_support.patches import SNAKEMAKE, applies
from stele.snakemake_support.run_tables import RENDERING, RULE, is_of_this_plan

DEFAULT_RATE = (100, 1)  # jobs in seconds: Snakemake's own --max-jobs-per-timespan
FORMATS = ("md", "tex", "csv", "html")  # of a table
SHOWING = frozenset({*RENDERING, "average", "alias", "card"})  # rules whose outputs show their inputs
LONGEST_WAIT = 2.0  # longest time in seconds between two measurements of a job's memory


def drop_rate_limit(workflow: Any, local: bool) -> None:
    """Removes Snakemake's default rate limit, and any limit for `local` jobs, which the cores limit already.

    With a limit, the scheduler starts a timer after every pass over the ready jobs, and each timer starts another pass:
    hundreds of threads in a long run. A user's limit for a cluster stays. To be called when a run starts.
    """
    scheduler, limit = workflow.scheduler, workflow.scheduling_settings.max_jobs_per_timespan
    if scheduler.job_rate_limiter is None or not applies(SNAKEMAKE):
        return
    if local or (limit.max_jobs, limit.timespan) == DEFAULT_RATE:
        scheduler.job_rate_limiter = None


def add_default_resources(workflow: Any) -> None:
    """Adds, on a cluster, our default resources to the user's --default-resources; call it before rules are read."""
    if resources.VARIABLE in os.environ and applies(SNAKEMAKE):
        users = workflow.resource_settings._parsed_default_resources
        for name, value in resources.defaults().items():
            if name not in users or users[name].raw is None:  # a function of Snakemake's own
                users[name] = value


def add_sbatch_options(workflow: Any) -> None:
    """Adds the signal option and the user's default `slurm_extra` to each rule that was read, on a cluster only.

    A rule's own options come last, since sbatch uses the last value of a repeated option.
    """
    if resources.VARIABLE not in os.environ or not applies(SNAKEMAKE):
        return
    default = workflow.resource_settings._parsed_default_resources["slurm_extra"]
    users = "" if default.raw == resources.SIGNAL else _options(default.raw)
    for rule in workflow.rules:
        extra = rule.resources["slurm_extra"]
        options = [users, "" if extra.raw in (default.raw, resources.GPU_SIGNAL) else _options(extra.raw)]
        if None not in options:  # an expression stays as it is
            usual = resources.SIGNAL if rule.resources.get("gpus") in (None, 0) else resources.GPU_SIGNAL
            signal = [] if any("--signal" in text for text in options) else [usual]
            rule.resources["slurm_extra"] = " ".join(filter(None, [*signal, *options]))


def _options(text: str) -> str | None:
    """Parses options of sbatch, with or without Python's quotes; returns None for an expression.

    >>> _options("'--nice=1'"), _options("--nice=1"), _options("f'--nice={attempt}'")
    ('--nice=1', '--nice=1', None)
    """
    try:
        return str(ast.literal_eval(text))
    except (SyntaxError, ValueError):
        return text if text.startswith("-") else None


def name_nearest_targets(plan: Plan, workflow) -> None:
    """Makes Snakemake's error for a file that no rule makes name the nearest targets."""
    if not applies(SNAKEMAKE):
        return
    from snakemake import dag
    from snakemake.exceptions import MissingRuleException

    class NoRule(MissingRuleException):
        def __init__(self, file, **details) -> None:
            super().__init__(file, **details)
            self.file = str(file)

        def __str__(self) -> str:
            return missing_target(self.file, targets(plan, workflow))

    dag.MissingRuleException = NoRule


def make_removed_results_again() -> None:
    """Makes Snakemake build a removed result, table or figure again where an average, table or page of it exists.

    So it does with a context of another plan: that of a folder of results from elsewhere has no metadata here.
    """
    from snakemake.dag import DAG

    update = DAG.update_needrun

    @functools.wraps(update)
    async def update_with_removed(self: Any, create_inventory: bool = False) -> None:
        for job in self.jobs:
            if job.rule.name in SHOWING and os.path.exists(job.output[0]):
                self.forcefiles.update(path for path in job.input if not os.path.exists(path))
            elif job.rule.name == RULE and not is_of_this_plan(job):
                self.forcefiles.update(job.output)
        await update(self, create_inventory)

    if applies(SNAKEMAKE):
        DAG.update_needrun = update_with_removed


def leave_out_tracebacks() -> None:
    """Makes Snakemake's error for an input function that raises SteleError end with the message."""
    if not applies(SNAKEMAKE):
        return
    from snakemake import rules

    class InputError(rules.InputFunctionException):
        def __init__(self, error, **details) -> None:
            super().__init__(str(error) if isinstance(error, SteleError) else error, **details)

    rules.InputFunctionException = InputError


def name_living_run() -> None:
    """Makes Snakemake's error for a locked folder name the run that works in it, if known."""
    if not applies(SNAKEMAKE):
        return
    from snakemake import exceptions

    class Locked(exceptions.LockException):
        def __str__(self) -> str:
            run = locks.living_run()
            return locks.another_run(run) if run else super().__str__()

    exceptions.LockException = Locked


def targets(plan: Plan, workflow) -> list[str]:
    """What a user may give as a target: a rule without wildcards, a table, a figure, or a result in them."""
    rules = [rule.name for rule in workflow.rules if not rule.has_wildcards()]
    tables = [path for group in (plan.tables, plan.tables_of_today) for name in FORMATS for path in group.files(name)]
    rows = [*plan.requested.all_rows, *plan.requested.rows_of_today]
    return [*rules, *tables, *plan.figures.files(), *plan.figures_of_today.drawn(), *map(plan.paths.result, rows)]


def missing_target(target: str, valid: list[str]) -> str:
    """Error message for a target that no rule makes, with the nearest path, or the paths of the nearest file name.

    Since tables have two digits, `table_05.md` counts as nearer to `table_5.md` than `table_15.md`.
    """
    if target in valid:
        return f"no rule that may run makes {target!r}; add its rule and those of its inputs to --allowed-rules"
    numbered = re.sub(r"_(\d)(?=\.\w+$)", r"_0\1", target)
    by_name = defaultdict(list)
    for path in valid:
        by_name[os.path.basename(path)].append(path)
    closest = nearest(numbered, valid)
    close = [closest] if closest else by_name.get(nearest(os.path.basename(numbered), by_name), [])
    hint = f"; did you mean {' or '.join(close[:5])}?" if close else "."
    return (
        f"no rule makes {target!r}{hint} A table is results/tables/PAPER/table_NN.md, a result "
        "results/BENCHMARK/MODEL/SETTING.json; `snakemake --list` shows the rules"
    )


def measure_children_of_worker(path: str) -> None:
    """Makes benchmark files include the processes that the local worker at `path` runs for a job.

    Measuring a process with torch takes hundredths of a second. So it is measured after 0.5, 1 and 2 seconds, then
    every 2 seconds; Snakemake alone would measure it thirty times in the first 15 seconds.
    """
    if not applies(SNAKEMAKE):
        return
    from snakemake import benchmark

    class JobProcess(psutil.Process):
        def children(self, recursive: bool = False) -> list[psutil.Process]:
            children = super().children(recursive)
            handed_over = [child_of(path, process.pid) for process in (self, *children)]
            return children + [process for pid in handed_over if pid for process in _family(pid)]

    snakemakes = getattr(benchmark.BenchmarkTimer, "unpatched", benchmark.BenchmarkTimer)

    class Timer(snakemakes):
        unpatched = snakemakes

        def __init__(self, pid: int, *arguments: Any) -> None:
            super().__init__(pid, *arguments)
            self.main = JobProcess(pid)
            self.began, self.due = time.monotonic(), 0.0

        def work(self) -> None:
            passed = time.monotonic() - self.began
            if passed >= self.due:
                self.due = passed + min(passed, LONGEST_WAIT)
                super().work()

    benchmark.BenchmarkTimer = Timer


def record_on_nodes() -> None:
    """Makes a job on a node write Snakemake's own metadata of it, as otherwise only the main process does."""
    if not applies(SNAKEMAKE):
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


# --- an interrupt of a run ends the jobs that it runs on this host ----------------------------------------------------
# Snakemake waits for its local jobs. A terminal's Ctrl-C reaches them, too; `kill` reaches Snakemake alone, and a job
# in a long call of a library hears nothing. So each job is interrupted, at which a training saves its state, and is
# killed if it has not ended soon after: outputs are moved into place whole, so nothing half written stays.
TOLD = 0.5  # seconds that a terminal's own signal has; a second one would cut the clean-up short
GRACE = 8.0  # seconds until a job is killed
INTERVAL = 0.1

interrupted = threading.Event()


def end_jobs_when_interrupted() -> None:
    """Makes SIGINT end this process's jobs as well; call it in the main thread, before the first job."""
    if applies(SNAKEMAKE):
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: Any) -> NoReturn:
    if not interrupted.is_set():
        interrupted.set()
        threading.Thread(target=_end_jobs, name="end of the jobs", daemon=True).start()
    raise KeyboardInterrupt


def _end_jobs() -> None:
    """Interrupts, then kills, the shells of running jobs and all their descendants, until this process ends."""
    from snakemake.shell import shell

    started, told = time.monotonic(), set()
    while True:
        time.sleep(INTERVAL)
        waited = time.monotonic() - started
        for process in [process for shells in list(shell._processes.values()) for process in _family(shells.pid)]:
            with contextlib.suppress(ProcessLookupError):
                if waited > GRACE:
                    process.kill()
                elif waited > TOLD and process not in told:
                    told.add(process)
                    process.send_signal(signal.SIGINT)


def _family(pid: int) -> list[Any]:
    """Returns a process and its living descendants, as psutil processes; [] for a dead process."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
