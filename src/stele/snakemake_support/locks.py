"""Finds the Snakemake processes that work in this folder, and removes locks that killed ones left.

A lock does not name its process, so each run writes a note about itself to `.snakemake/stele-drivers`. Locks are
removed only if the noted process is certainly dead and no other can be alive. Snakemake looks for locks before it
writes its own, so two runs that start at once may both find none; the notes therefore list the outputs, too.
"""

import os
import shutil
import socket
import sys
import time
from collections.abc import Collection
from pathlib import Path

from stele.command.parent_watch import alive, host, identity
from stele.errors import SteleError
from stele.files.atomic import atomic_write_json
from stele.files.reading import JsonObject, read_note

DRIVERS = Path(".snakemake/stele-drivers")
LOCKS = Path(".snakemake/locks")


def _note_path() -> Path:
    return DRIVERS / f"{socket.gethostname()}.{os.getpid()}.json"


def note(outputs: Collection[str] = ()) -> None:
    """Notes this process, its folder and its outputs. Raises SteleError if another living run builds one of them.

    Each run writes its note before it reads the others, so that of two runs at least one sees the other.
    """
    about = {"process": identity(os.getpid()), "folder": os.getcwd(), "since": time.strftime("%Y-%m-%d %H:%M")}
    atomic_write_json(_note_path(), {**about, "outputs": sorted(outputs)})
    for run in _others().values():
        same = set(outputs).intersection(run.get("outputs", []))
        if same and _lives(run):
            raise SteleError(another_run(run, min(same)))


def forget() -> None:
    """Removes the note of this process, which builds nothing more."""
    _note_path().unlink(missing_ok=True)


def another_run(run: JsonObject, what: str = "") -> str:
    """Error message about a living run that builds `what`, with advice."""
    pid = run["process"].partition(":")[0]
    since = f", since {run['since']}" if "since" in run else ""
    return (
        f"another run (process {pid} on {host(run['process'])}{since}) builds {what or 'some of the same files'} in "
        f"{os.getcwd()}: wait until it has ended, or end it with its jobs (kill -INT {pid} on that host; the next run "
        "goes on where they stopped), then give the same command again"
    )


def living_run() -> JsonObject | None:
    """Note of another living run in this folder on this host; None if there is none."""
    return next((run for run in _others().values() if _lives(run)), None)


def _lives(run: JsonObject) -> bool:
    """Whether a noted run lives on this host and works in this folder, which may be a copy with another's notes."""
    return alive(run["process"]) and run.get("folder", os.getcwd()) == os.getcwd()


def _others() -> dict[Path, JsonObject]:
    """Path -> note for the other runs noted here; removes unreadable notes."""
    others = {}
    for path in DRIVERS.glob("*.json"):
        run = read_note(path, process=str, folder=str, since=str, outputs=list)
        if run.get("process") == identity(os.getpid()):
            continue
        if "process" in run:
            others[path] = run
        else:
            path.unlink(missing_ok=True)
    return others


def clear_stale_locks() -> bool:
    """Removes the locks of a run that was killed on this host; keeps those of a run that may be alive.

    Returns whether it removed any.

    Processes of other hosts cannot be checked: if there are locks, the user is told how to remove them; if there are
    none, no run is active, and the notes of other hosts are removed.
    """
    others = _others()
    locked = LOCKS.is_dir() and any(LOCKS.iterdir())
    on_this_host = {path for path, run in others.items() if host(run["process"]) == socket.gethostname()}
    dead = {path for path in on_this_host if not _lives(others[path])}
    away = others.keys() - on_this_host
    for path in dead if locked else dead | away:
        path.unlink(missing_ok=True)
    if not locked:
        return False
    if away:
        names = ", ".join(sorted({host(others[path]["process"]) for path in away}))
        print(
            f"Stele: this folder is locked, and a run on {names} may still work in it; "
            "if that run has ended, call snakemake --unlock, then give the same command again",
            file=sys.stderr,
        )
    elif dead and on_this_host == dead:
        shutil.rmtree(LOCKS, ignore_errors=True)
        print("Stele: an earlier run was killed; its locks are removed and its work resumes", file=sys.stderr)
        return True
    return False
