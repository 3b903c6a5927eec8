"""An interrupt (Ctrl-C, `kill -INT`) of a run ends the jobs that it runs on this host.

Snakemake waits for its local jobs. A terminal's Ctrl-C reaches them, too; `kill` reaches Snakemake alone, and a job in
a long call of a library hears nothing. So each job is interrupted, at which a training saves its state, and is killed
if it has not ended soon after: outputs are moved into place whole, so nothing half written stays.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from typing import Any, NoReturn

from stele.snakemake_support.patches.snakemake_patches import JOB_PROCESSES

TOLD = 0.5  # seconds that a terminal's own signal has; a second one would cut the clean-up short
GRACE = 8.0  # seconds until a job is killed
INTERVAL = 0.1

interrupted = threading.Event()


def end_jobs_when_interrupted() -> None:
    """Has SIGINT end this process's jobs, too. To be called in the main thread, before the first job."""
    if JOB_PROCESSES.applies():
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: Any) -> NoReturn:
    if not interrupted.is_set():
        interrupted.set()
        threading.Thread(target=_end_jobs, name="end of the jobs", daemon=True).start()
    raise KeyboardInterrupt


def _end_jobs() -> None:
    """Interrupts and then kills the shells of running jobs and all that they started, for as long as there are any."""
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
    """A process and its descendants that live, as psutil's."""
    import psutil

    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
