"""Proof that a folder may be replaced or emptied: it is new, empty, or holds what the same job made and nothing else.

A finished folder has a mark, a hidden file with the job and the names of all that the job put there. It is no declared
output, so it is still there when Snakemake has deleted a record before its job runs again. Where it is missing, as in a
copy without hidden files, the record itself says what there should be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from stele.errors import SteleError
from stele.files.reading import JsonObject, read_note

MARK, RECORD = ".stele.json", "record.json"
NOBODYS = (MARK, ".DS_Store", ".snakemake_timestamp")  # and .nfs*: what a server keeps of a deleted file
SHOWN = 3  # names in a message


def check_replaceable(
    folder: Path, job: str, record: str = RECORD, stays: Callable[[str], object] = lambda name: False
) -> Path:
    """The folder behind a path, links followed; a SteleError where `job` may not replace it.

    `record` is the name of its record; a file or folder whose name `stays` is not replaced with it.

    Refused are a folder that holds anything but what this job made, the one that the command runs in and those above
    it, a file, a link that leads nowhere, and a place that cannot be written to.
    """
    try:
        place = folder.resolve()
    except (OSError, RuntimeError) as error:  # a circle of links
        raise SteleError(f"{folder}: cannot be looked into ({error}); give another folder") from None
    if Path.cwd().is_relative_to(place):
        where = "the command runs in it" if Path.cwd() == place else "the command runs in a folder of it"
        raise SteleError(f"{place}: is not replaced, since {where}; give a folder of its own: NAME/{RECORD}")
    if folder.is_symlink() and not place.exists():
        raise SteleError(f"{folder}: a link that leads nowhere; make {place}, or give another folder")
    above = next(path for path in (place, *place.parents) if path.exists())
    if not above.is_dir():
        raise SteleError(f"{above}: a file, want a folder; give another one")
    writable = place.parent if above == place else above
    if not os.access(writable, os.W_OK | os.X_OK):
        raise SteleError(f"{writable}: nothing can be written there; change its permissions, or give another folder")
    if above == place:
        _check_contents(place, job, record, stays)
    return place


def _check_contents(folder: Path, job: str, record: str, stays: Callable[[str], object]) -> None:
    present = [name for name in entries(folder) if not stays(name)]
    made_by, listed = _made(folder, record)
    if foreign := [name for name in present if name not in listed]:
        more = f" and {len(foreign) - SHOWN} more" if len(foreign) > SHOWN else ""
        names = ", ".join(map(repr, foreign[:SHOWN]))
        raise SteleError(
            f"{folder}: is not replaced, since it holds what `{job}` did not make: {names}{more}; give a new or an "
            "empty folder, or move that elsewhere"
        )
    if present and made_by != job:
        raise SteleError(f"{folder}: is not replaced, since `{made_by}` made it, not `{job}`; give another folder")


def entries(folder: Path) -> Iterator[str]:
    """The files, links and empty folders below a folder, as relative paths in order; no link is followed."""
    for at, folders, files in os.walk(folder, onerror=_cannot):
        folders.sort()
        links = [name for name in folders if Path(at, name).is_symlink()]
        names = [name for name in files if name not in NOBODYS and not name.startswith(".nfs")]
        below = Path(at).relative_to(folder)
        yield from ((below / name).as_posix() for name in sorted([*names, *links]))
        if not folders and not names and below != Path():
            yield below.as_posix()


def _cannot(error: OSError) -> None:
    raise error


def _made(folder: Path, name: str = RECORD) -> tuple[str, set[str]]:
    """Which job made a folder, and the names of all that it put there; ("", none) where nothing says so."""
    if mark := read_note(folder / MARK):
        return str(mark.get("job")), _names(mark.get("files"))
    record = read_note(folder / name)
    if not isinstance(record.get("job"), str):
        return "", set()
    return record["job"], {name} | _names(record.get("outputs")) | _names(record.get("files"))


def _names(value: object) -> set[str]:
    """The names of a record's or a mark's files, and of the folders that they lie in."""
    names = set(map(str, value)) if isinstance(value, list | dict) else set()
    return names | {above.as_posix() for name in names for above in PurePosixPath(name).parents}


def mark_of(folder: Path, job: str) -> JsonObject:
    """What the mark of a finished folder says."""
    return {"job": job, "files": list(entries(folder))}


def is_made(folder: Path, job: str) -> bool:
    """Whether a folder is what this job has made before."""
    return _made(folder)[0] == job


def check_record(path: Path, job: str) -> None:
    """SteleError where a file that is to be the record of a job is there already, and is none of it."""
    if path.is_dir():
        raise SteleError(f"{path}: a folder, want the name of a file to write")
    if path.exists() and (found := read_note(path).get("job")) != job:
        what = f"is of `{found}`" if isinstance(found, str) else "is no record of ours"
        raise SteleError(f"{path}: {what}, so `{job}` does not replace it; give another name, or remove it first")


def check_claimable(folder: Path, job: str, known: Callable[[str], object]) -> None:
    """SteleError where a folder holds anything, of names that are not `known`, and is not in this job's use."""
    if is_claimed(folder, job) or not folder.is_dir():
        return
    if foreign := next((name for name in entries(folder) if not known(name)), None):
        raise SteleError(f"{folder}: holds {foreign!r}, which is not of `{job}`; give a new or an empty folder")


def is_claimed(folder: Path, job: str) -> bool:
    """Whether everything in a folder is this job's."""
    return read_note(folder / MARK) == {"job": job}
