"""No orphan still writing: a job ends when the driver that started it is gone.

A killed Snakemake leaves its shells running. The Snakefile therefore names its process in `STELE_DRIVER`
(process id and start time); each command looks now and then whether that process still lives.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

INTERVAL = 0.5  # seconds between two looks


def process_start(pid: int) -> str | None:
    """The kernel's start time of a process (clock ticks since boot), None when there is none; Linux only."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # the command name may hold blanks and brackets: count the fields after the last bracket
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def identity(pid: int) -> str:
    """What names a process for good: its id and its start time."""
    return f"{pid}:{process_start(pid)}"


def alive(name: str) -> bool:
    """Whether the process that `identity` named still runs."""
    pid, _, started = name.partition(":")
    return pid.isdigit() and process_start(int(pid)) == started


def watch_driver() -> None:
    """Ends this process and its children once the driver named in the environment is gone."""
    name = os.environ.get("STELE_DRIVER", "")
    if not name or not Path("/proc/self/stat").exists():
        return

    def look() -> None:
        while alive(name):
            time.sleep(INTERVAL)
        print("stele: the workflow that started this job is gone: ending", flush=True)
        os.killpg(os.getpgrp(), signal.SIGKILL) if os.getpgrp() == os.getpid() else os._exit(137)

    threading.Thread(target=look, name="driver watch", daemon=True).start()
