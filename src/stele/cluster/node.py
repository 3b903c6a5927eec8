"""What a job on a node does before its command: temporary files on the node's disk, time to act on signals.

A notice before the time limit or a preemption (SIGTERM, SIGUSR1) reaches Snakemake, its shell and the command alike.
The command is to save its state and end; Snakemake and the shell must outlive it, for SLURM kills what is left as soon
as the process that it started has ended.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from stele.cluster import settings
from stele.command.launch import JOB
from stele.errors import SteleError

# a shell that catches a signal waits for its command; what it starts gets the signal as ever
OUTLIVE = "set -euo pipefail; trap : TERM USR1"


def prepare(lines: Sequence[str] = (), contained: bool = False) -> None:
    """Prepares this process and the shells that it starts: `lines` of shell come before each command.

    `setup` of cluster.yaml does too; for a command in a container, which has no modules, it is run here and now.
    """
    from snakemake.shell import shell

    os.environ[JOB] = "1"
    here = settings.read()
    if contained:
        take_environment(here.setup)
    lines = [*([] if contained else here.setup), *lines]
    signal.signal(signal.SIGUSR1, lambda number, frame: None)  # not inherited by what it starts, unlike SIG_IGN
    shell.prefix(as_prefix([OUTLIVE, *lines]))
    if here.scratch:
        use_scratch(here.scratch)


def as_prefix(lines: Sequence[str]) -> str:
    """Lines of shell as Snakemake takes them before a command: with braces doubled.

    >>> as_prefix(["set -e", "module load ${CUDA}"])
    'set -e; module load ${{CUDA}}; '
    """
    return "".join(f"{line}; " for line in lines).replace("{", "{{").replace("}", "}}")


def take_environment(lines: Sequence[str]) -> None:
    """Runs lines of shell and takes over what they leave in the environment, as `module load` does."""
    text = "\n".join(["set -e", "{", ":", *lines, "} >&2", "env -0"])
    done = subprocess.run(["bash", "-c", text], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise SteleError(f"{settings.path()}: setup: failed with exit code {done.returncode} on {socket.gethostname()}")
    os.environ.update(item.split("=", 1) for item in done.stdout.decode().split("\0") if "=" in item)


def use_scratch(folder: str) -> None:
    """Takes a folder of this node, in which variables of the environment are replaced, for temporary files."""
    path = Path(os.path.expandvars(folder))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SteleError(f"{settings.path()}: scratch: {path} cannot be made on this node ({error.strerror})") from None
    os.environ["TMPDIR"] = str(path)
    tempfile.tempdir = None  # read anew from the environment
