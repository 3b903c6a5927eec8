"""Run SLURM's commands, repeated until they answer, so that a restart of the controller loses no job."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stele.errors import SteleError

# SLURM's messages (slurm_errno.c, sbatch.c), in lower case: a controller that does not answer ...
AWAY = (
    "unable to contact slurm controller",
    "connection refused",
    "connection reset",
    "connection failure",
    "connect failure",
    "timed out",
    "try again",
    "zero bytes were transmitted",
    "unexpected message received",
    "in standby mode",
)
# ... and one that takes no job for now, by its limits (QOSMaxSubmitJobPerUserLimit and others) or its state
BUSY = (
    *AWAY,
    "submitjob",
    "temporarily unable",
    "temporarily unavailable",
    "job queue full",
    "inactive or drain",
    "i/o error writing script",
    "problem talking to database",
    "unable to connect to database",
)
POLICY = "job submit limit, user's size and/or time limits"  # older versions do not say which of them
SQUEUE = ["squeue", "--noheader", f"--user={os.getuid()}"]
EVERY = 5.0  # seconds between two queries of a controller that does not answer
interrupted = threading.Event()  # set in a Snakemake process that is to end: nothing waits for SLURM any more


@dataclass(frozen=True)
class Queued:
    """A job in SLURM's queue: its id, name (of the run that submitted it), state, comment (rule and wildcards).

    `reason` is SLURM's reason why the job waits.
    """

    id: str
    name: str
    state: str
    comment: str
    reason: str = ""


def query(command: Sequence[str], timeout: float = float("inf")) -> str:
    """Output of a SLURM command, repeated for `timeout` seconds while SLURM is away. Raises SteleError if it fails.

    >>> query(["echo", "n1"])
    'n1\\n'
    """
    until, warned = time.monotonic() + timeout, False
    while True:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise SteleError(f"{command[0]} cannot be started ({error.strerror}); is this a cluster host?") from None
        if done.returncode == 0:
            return done.stdout
        away = any(sign in done.stderr.lower() for sign in AWAY)
        if not away or time.monotonic() > until:
            raise SteleError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
        if not warned:
            print("Stele: SLURM's controller does not answer; retrying", file=sys.stderr, flush=True)
            warned = True
        pause(EVERY)


def pause(seconds: float) -> None:
    """Waits some seconds. Raises SteleError once the run is interrupted."""
    if interrupted.wait(seconds):
        raise SteleError("the run was interrupted while it waited for SLURM")


def may_pass(refusal: str, queued: bool) -> bool:
    """Whether SLURM may take a job later that it refuses now; `queued`: whether the user has jobs in the queue.

    >>> may_pass("sbatch: error: QOSMaxSubmitJobPerUserLimit", queued=False)
    True
    >>> may_pass("sbatch: error: Batch job submission failed: Invalid qos specification", queued=True)
    False
    """
    text = refusal.partition("sbatch call:")[0].lower()
    return any(sign in text for sign in BUSY) or (queued and POLICY in text)


def controller() -> None:
    """Waits until SLURM's controller answers."""
    query(["sinfo", "--noheader", "--format=%P"])


def living() -> list[str]:
    """Ids of this user's jobs in the queue, of any folder and program."""
    return query([*SQUEUE, "--format=%i"]).split()


def of_folder(folder: Path, timeout: float = float("inf")) -> list[Queued]:
    """This user's jobs in the queue that Snakemake submitted for a folder."""
    text = query([*SQUEUE, "--format=%i|%j|%T|%Z|%r|%k"], timeout)
    rows = [line.split("|", 5) for line in text.splitlines() if line.count("|") >= 5]
    resolved = folder.resolve()
    return [
        Queued(id, name, state, comment, reason)
        for id, name, state, workdir, reason, comment in rows
        if comment.startswith(("rule_", "group_")) and Path(workdir).resolve() == resolved
    ]


def cancel(ids: Sequence[str], seconds: float = 120) -> None:
    """Cancels jobs and waits until they have left the queue and write nothing. Raises SteleError after `seconds`."""
    if not ids:
        return
    with suppress(SteleError):  # some have ended meanwhile; the loop checks for the others
        query(["scancel", *ids])
    until = time.monotonic() + seconds
    while not set(ids).isdisjoint(living()):
        if time.monotonic() > until:
            raise SteleError(f"jobs {' '.join(ids)} were cancelled but are still in the queue; see `squeue --me`")
        time.sleep(1)
