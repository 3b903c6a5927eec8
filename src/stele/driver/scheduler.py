"""Snakemake's scheduler (9.27, as locked) without the chain of timers that its rate limit starts.

Snakemake allows 100 jobs a second. After every pass over the ready jobs its scheduler starts a timer of a second,
whether or not the limit held a job back, and each timer starts another pass, which starts another timer: a chain for
every job that has ended, hundreds of threads and passes a second in a long run.
"""

from __future__ import annotations

import threading
from typing import Any

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


def limit_rate(scheduler: Any, local: bool) -> None:
    """Called when a run starts. `local`: its jobs run here, where the cores are the limit and there is no other."""
    if scheduler.job_rate_limiter is None:
        return
    if local:
        scheduler.job_rate_limiter = None
        return
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
