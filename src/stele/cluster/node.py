"""What a job on a node does before its command: temporary files on the node's disk, time to act on signals.

A notice before the time limit or a preemption (SIGTERM, SIGUSR1) reaches Snakemake, its shell and the command alike.
The command is to save its state and end; Snakemake and the shell must outlive it, for SLURM kills what is left as soon
as the process that it started has ended.
"""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

from stele.cluster import names
from stele.errors import SteleError

# a shell that catches a signal waits for its command; what it starts gets the signal as ever
OUTLIVE = "set -euo pipefail; trap : TERM USR1;"


def prepare() -> None:
    """Prepares this process and the shells that it starts."""
    from snakemake.shell import shell

    here = names.read()
    signal.signal(signal.SIGUSR1, lambda number, frame: None)  # not inherited by what it starts, unlike SIG_IGN
    shell.prefix(" ".join([OUTLIVE, *(f"{line};" for line in here.setup), ""]))
    if here.scratch:
        use_scratch(here.scratch)


def use_scratch(folder: str) -> None:
    """Takes a folder of this node, in which variables of the environment are replaced, for temporary files."""
    path = Path(os.path.expandvars(folder))
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SteleError(f"{names.place()}: scratch: {path} cannot be made on this node ({error.strerror})") from None
    os.environ["TMPDIR"] = str(path)
    tempfile.tempdir = None  # read anew from the environment
