"""SLURM's own commands, repeated until they answer: a controller that is restarted is no reason to lose a job."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stele.errors import SteleError

AWAY = (
    "Unable to contact slurm controller",
    "Connection refused",
    "timed out",
    "connect failure",
    "try again",
)
SQUEUE = ["squeue", "--noheader", f"--user={os.getuid()}"]
EVERY = 5.0  # seconds between two questions to a controller that does not answer


@dataclass(frozen=True)
class Queued:
    """A job in SLURM's queue: its id, name (of the run that submitted it), state, comment (rule and wildcards).

    `reason`: why it waits.
    """

    id: str
    name: str
    state: str
    comment: str
    reason: str = ""


def query(command: Sequence[str], timeout: float = float("inf")) -> str:
    """What a SLURM command prints; a controller that does not answer is queried again for `timeout` seconds.

    >>> query(["echo", "n1"])
    'n1\\n'
    """
    until, warned = time.monotonic() + timeout, False
    while True:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise SteleError(
                f"{command[0]} cannot be started ({error.strerror}): is this a host of the cluster?"
            ) from None
        if done.returncode == 0:
            return done.stdout
        away = any(sign.lower() in done.stderr.lower() for sign in AWAY)
        if not away or time.monotonic() > until:
            raise SteleError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
        if not warned:
            print("Stele: SLURM's controller does not answer; asking until it does", file=sys.stderr, flush=True)
            warned = True
        time.sleep(EVERY)


def of_folder(folder: Path, timeout: float = float("inf")) -> list[Queued]:
    """This user's living jobs that Snakemake submitted for a folder."""
    text = query([*SQUEUE, "--format=%i|%j|%T|%Z|%r|%k"], timeout)
    rows = [line.split("|", 5) for line in text.splitlines() if line.count("|") >= 5]
    here = folder.resolve()
    return [
        Queued(id, name, state, comment, reason)
        for id, name, state, workdir, reason, comment in rows
        if comment.startswith(("rule_", "group_")) and Path(workdir).resolve() == here
    ]


def cancel(ids: Sequence[str], seconds: float = 120) -> None:
    """Cancels jobs and waits until they have left the queue, so that nothing of theirs is still written."""
    if not ids:
        return
    with suppress(SteleError):  # some have ended meanwhile; whether all have is asked below
        query(["scancel", *ids])
    until = time.monotonic() + seconds
    while not set(ids).isdisjoint(query([*SQUEUE, "--format=%i"]).split()):
        if time.monotonic() > until:
            raise SteleError(f"jobs {' '.join(ids)} are cancelled and still in the queue: see `squeue --me`")
        time.sleep(1)
