"""The Snakemake processes that work in this folder, and the locks that killed ones leave.

A lock does not name its process, so each run notes its own in `.snakemake/stele-drivers`. Locks are removed only when a
noted process is surely dead and no other one can be alive. Snakemake looks for locks before it writes its own, so two
runs that are started at once may both find none: the outputs of each are noted as well.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
from collections.abc import Collection
from pathlib import Path

from stele.command.parent_watch import alive, host, identity
from stele.errors import SteleError
from stele.files.atomic import atomic_file
from stele.files.reading import read_note

DRIVERS = Path(".snakemake/stele-drivers")
LOCKS = Path(".snakemake/locks")


def _note_path() -> Path:
    return DRIVERS / f"{socket.gethostname()}.{os.getpid()}.json"


def note(outputs: Collection[str] = ()) -> None:
    """Notes this process and its outputs. Raises SteleError where another living run builds one of them.

    Each run notes itself before it looks at the others, so that of two runs at least one sees the other.
    """
    DRIVERS.mkdir(parents=True, exist_ok=True)
    with atomic_file(_note_path()) as handle:
        json.dump({"process": identity(os.getpid()), "outputs": sorted(outputs)}, handle)
    for path, process in _others().items():
        same = set(outputs).intersection(read_note(path, outputs=list).get("outputs", []))
        if same and alive(process):
            pid = process.partition(":")[0]
            raise SteleError(
                f"another run (process {pid} on {host(process)}) builds {min(same)} in this folder: wait until it has "
                f"ended, or end it (kill -INT {pid} lets the jobs that it runs on its host finish, kill -9 {pid} does "
                "not: the next run goes on where they stopped), then give the same command again"
            )


def forget() -> None:
    """This process builds no more."""
    _note_path().unlink(missing_ok=True)


def _others() -> dict[Path, str]:
    """Record -> process, of the other runs noted here; records that cannot be read are removed."""
    others = {}
    for path in DRIVERS.glob("*.json"):
        note = read_note(path, process=str)
        if "process" in note:
            others[path] = note["process"]
        else:
            path.unlink(missing_ok=True)
    return {path: process for path, process in others.items() if process != identity(os.getpid())}


def clear_stale_locks() -> None:
    """Removes the locks of a run that was killed on this host; the locks of a run that may be alive stay.

    A process of another host cannot be seen: where there are locks, the user is told how to remove them. Where there
    are none no run builds, and the notes of other hosts are removed.
    """
    others = _others()
    locked = LOCKS.is_dir() and any(LOCKS.iterdir())
    here = {path for path, process in others.items() if host(process) == socket.gethostname()}
    dead = {path for path in here if not alive(others[path])}
    away = others.keys() - here
    for path in dead if locked else dead | away:
        path.unlink(missing_ok=True)
    if not locked:
        return
    if away:
        names = ", ".join(sorted({host(others[path]) for path in away}))
        print(
            f"Stele: this folder is locked, and a run on {names} may still work in it; "
            "if that one has ended: snakemake --unlock, then the same command again",
            file=sys.stderr,
        )
    elif dead and here == dead:
        shutil.rmtree(LOCKS, ignore_errors=True)
        print("Stele: an earlier run was killed; its locks are removed and its work goes on", file=sys.stderr)
