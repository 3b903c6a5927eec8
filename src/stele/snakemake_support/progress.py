"""Displays a run on a terminal: one line per stage, an estimate of its end, and failures as they happen.

`make tables` turns the display on (`STELE_PROGRESS=1`). It replaces Snakemake's own lines, all of which remain in the
log file. If standard error is not a terminal, Snakemake's lines stay.
"""

import atexit
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from snakemake.common import NOTHING_TO_BE_DONE_MSG
from snakemake.logging import LogEvent, logger

from stele.cluster.requests import estimate
from stele.cluster.work import Work, cpu_seconds
from stele.files.formats import duration
from stele.plan.plan import Plan
from stele.snakemake_support.summary import page, title, wanted

SHOWN = 4  # running jobs of which the log's last line is shown
TAIL = 4_096  # bytes of a log in which its last line is looked for
WIDE = 72  # columns of a terminal wide enough for bars
PRIOR = 60.0  # estimated seconds of jobs after which the pace of this machine counts as much as the estimate
STREAM = "DefaultStreamHandler"  # Snakemake's name of its handler for the terminal
TOLD_BY_THE_JOB = ("RuleException", "SpawnedJobError")  # repeat the command of a failed job, which is shown anyway


def seconds_left(left: float, done: float, elapsed: float, cores: int) -> float:
    """Estimates the seconds until the end: the cost of the open jobs, scaled by the pace of the finished ones.

    `left`, `done`: estimated seconds of jobs on one core; `elapsed`: seconds since the first job started.

    >>> seconds_left(600, 0, 0, cores=2), round(seconds_left(600, 600, 600, cores=2))
    (300.0, 573)
    """
    return left * (elapsed + PRIOR / cores) / (done + PRIOR)


class Overview:
    """Display of a run: its stages with their jobs (by id), and the estimated seconds of each job."""

    def __init__(
        self,
        stages: dict[str, Iterable[int]],
        seconds: dict[int, float],
        cores: int,
        clock=time.monotonic,
        logs: Mapping[int, str] | None = None,
    ):
        self.logs = logs or {}
        self.stages = {name: sorted(jobs) for name, jobs in stages.items()}
        self.states = {job: "" for jobs in self.stages.values() for job in jobs}
        self.seconds, self.cores, self.clock = seconds, cores, clock
        self.started = clock()
        self.over = False
        self._look()

    def _look(self) -> None:
        """Estimates the end of the run anew; until the next job ends, the display only counts the time down."""
        left = sum(seconds for job, seconds in self.seconds.items() if self.states[job] not in ("done", "failed"))
        now = self.clock()
        worth = sum(self.seconds[job] for job in self._in_state("done", self.states))
        self.end = now + seconds_left(left, worth, now - self.started, self.cores)

    def _in_state(self, state: str, jobs: Iterable[int]) -> list[int]:
        return [job for job in jobs if self.states[job] == state]

    def note(self, job: int, state: str) -> None:
        """Notes that a job is now "running", "done" or "failed"; ignores jobs that are not of this run."""
        if job in self.states:
            self.states[job] = state
            if state != "running":
                self._look()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """Yields a line for all jobs, which stays in a low window, and one per stage; narrow windows have no bars."""
        lines = Table.grid(padding=(0, 1))
        for justify in ("left", *(["left"] if options.max_width >= WIDE else []), "right", "left"):
            lines.add_column(justify=justify, no_wrap=True, overflow="ellipsis")

        def add(name: str, done: int, total: int, note: str | Text) -> None:
            bar = ProgressBar(total=total, completed=done, width=20, complete_style="blue", finished_style="green")
            lines.add_row(name, *([bar] if options.max_width >= WIDE else []), f"{done}/{total}", note)

        now = self.clock()
        until = time.strftime("%H:%M", time.localtime(time.time() + self.end - now))
        left = f"about {duration(60 * max(1, round((self.end - now) / 60)))} left, until {until}"
        add("all", len(self._in_state("done", self.states)), len(self.states), "" if self.over else left)
        running = []
        for name, jobs in self.stages.items():
            of_stage, failed = self._in_state("running", jobs), self._in_state("failed", jobs)
            note = Text(f"{len(of_stage)} running " if of_stage else "")
            if failed:
                note.append(f"{len(failed)} failed", "red")
            add(name, len(self._in_state("done", jobs)), len(jobs), note)
            running += [job for job in of_stage if self.logs.get(job)]
        yield lines
        for log in (self.logs[job] for job in running[:SHOWN]):
            yield Text(f"{log}: {_last_line(log) or 'nothing yet'}", style="dim", no_wrap=True, overflow="ellipsis")


class Terminal(logging.Handler):
    """Log handler that replaces Snakemake's handler for the terminal."""

    def __init__(self, console: Console, workflow: Any) -> None:
        super().__init__()
        self.console, self.workflow, self.live, self.overview = console, workflow, None, None

    def show(self, overview: Overview) -> None:
        """Starts to draw the overview, below any messages."""
        self.overview = overview
        self.live = Live(overview, console=self.console, refresh_per_second=1, vertical_overflow="crop")
        self.live.start(refresh=True)
        self.console.show_cursor(True)  # a run that is killed must not leave a terminal without
        atexit.register(self.stop)

    def stop(self) -> None:
        if self.live is not None:
            self.overview.over = True
            self.live.stop()
            self.live = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._take(record)
        except Exception:
            self.handleError(record)

    def _take(self, record: logging.LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.JOB_ERROR:
            self._failed(record)
        elif event == LogEvent.JOB_STARTED and self.overview:
            for job in record.jobs:
                self.overview.note(job, "running")
        elif event == LogEvent.JOB_FINISHED and self.overview:
            self.overview.note(record.job_id, "done")
        elif event == LogEvent.ERROR and record.exception in TOLD_BY_THE_JOB:
            pass
        elif record.levelno >= logging.WARNING:
            self.console.print(Text(record.getMessage()))
        elif record.msg == NOTHING_TO_BE_DONE_MSG:  # no hook runs then
            self.console.print(Text(record.msg), Text(f"open {page(self.workflow.dag)}"), sep="\n")

    def _failed(self, record: logging.LogRecord) -> None:
        if self.overview:
            self.overview.note(record.jobid, "failed")
        log = next(iter(record.log or ()), "")
        job = next((job for job in self.workflow.dag.jobs if job.jobid == record.jobid), None)
        rest = "".join(f"\n  {text}" for text in (_last_line(log), log) if text)
        self.console.print(Text.assemble(("failed: ", "bold red"), title(job) if job else record.rule_name, rest))


def _last_line(log: str) -> str:
    """Last line of a job's log that is not blank, which usually states the error; "" if there is none."""
    try:
        with open(log, "rb") as handle:
            handle.seek(max(0, os.fstat(handle.fileno()).st_size - TAIL))
            lines = handle.read().decode("utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def install(workflow: Any) -> None:
    """Replaces Snakemake's lines by the overview if the user wants it and standard error is a terminal."""
    console = Console(stderr=True, highlight=False)
    if wanted() and console.is_terminal and not console.is_dumb_terminal:
        for handler in [handler for handler in logger.handlers if handler.name == STREAM]:
            logger.removeHandler(handler)
            logger.addHandler(Terminal(console, workflow))
            console.print("Planning the jobs ...")


def terminal() -> Terminal | None:
    """Returns the overview's log handler if it is installed, else None."""
    return next((handler for handler in logger.handlers if isinstance(handler, Terminal)), None)


def begin(plan: Plan, workflow: Any) -> None:
    """Shows the overview; called when the jobs are known and about to run."""
    shown = terminal()
    if not shown:
        return
    stages: dict[str, list[int]] = {}
    for rule in workflow.rules:
        stages.setdefault(Path(rule.snakefile).stem, [])
    seconds, logs = {}, {}
    for job in workflow.dag.needrun_jobs():
        logs[job.jobid] = str(next(iter(job.log or ()), ""))
        stages[Path(job.rule.snakefile).stem].append(job.jobid)
        seconds[job.jobid] = cpu_seconds(estimate(plan, job.rule.name, dict(job.wildcards_dict)) or Work())
    wanted_stages = {name: jobs for name, jobs in stages.items() if jobs}
    shown.show(Overview(wanted_stages, seconds, workflow.cores or 1, logs=logs))


def end() -> None:
    """Stops the overview; later messages appear below its last state."""
    shown = terminal()
    if shown:
        shown.stop()
