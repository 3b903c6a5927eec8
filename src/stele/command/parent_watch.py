"""Ends a job when the driver (the Snakemake process) that started it is gone, so that no orphan goes on writing.

A killed Snakemake leaves its shells running, so each command looks whether the process in `STELE_DRIVER` still lives.
On a cluster that is the Snakemake of the job itself: the one that submitted it may die while its jobs go on.
"""

import os
import signal
import socket
import threading
import time
from functools import cache
from pathlib import Path

JOB = "STELE_JOB"  # set in a job that was submitted for one rule (cluster/node.py), not in an allocation one types in
INTERVAL = 0.5  # seconds between two checks
BOOT = Path("/proc/sys/kernel/random/boot_id")


def process_start(pid: int) -> str | None:
    """The kernel's start time of a process (clock ticks since boot), None when there is none; Linux only."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # the command name may hold blanks and brackets: count the fields after the last bracket
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


@cache
def boot() -> str:
    """Identifies this host since its last boot: its name and the kernel's boot id."""
    return f"{socket.gethostname()}/{BOOT.read_text().strip() if BOOT.exists() else ''}"


def identity(pid: int) -> str:
    """Unique name of a process of this host: its id, its start time, the host and the host's boot id."""
    return f"{pid}:{process_start(pid)}@{boot()}"


def is_here(name: str) -> bool:
    """Whether the process that `identity` named belongs to this host since its last boot, so that it can be seen."""
    return name.partition("@")[2] == boot()


def host(name: str) -> str:
    """The host of the process that `identity` named."""
    return name.partition("@")[2].partition("/")[0]


def alive(name: str) -> bool:
    """Whether the process that `identity` named still runs here."""
    pid, _, started = name.partition("@")[0].partition(":")
    return is_here(name) and pid.isascii() and pid.isdigit() and process_start(int(pid)) == started


def hear_interrupts() -> None:
    """Lets SIGINT end this process even if the shell started it in the background (`nohup ... &`) to ignore SIGINT."""
    here = threading.current_thread() is threading.main_thread()  # only it may set handlers
    if here and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def watch_driver() -> None:
    """Ends this process and its children once the driver in STELE_DRIVER is gone, if that is a process of this host."""
    name = os.environ.get("STELE_DRIVER", "")
    if not is_here(name) or not Path("/proc/self/stat").exists():
        return

    def look() -> None:
        while alive(name):
            time.sleep(INTERVAL)
        print("stele: the workflow that started this job is gone: ending", flush=True)
        os.killpg(os.getpgrp(), signal.SIGKILL) if os.getpgrp() == os.getpid() else os._exit(137)

    threading.Thread(target=look, name="driver watch", daemon=True).start()
