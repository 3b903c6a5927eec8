"""Outputs appear whole or not at all, and nothing that is not ours is ever replaced.

A file or folder is written under a temporary name beside its place, then moved. A folder is replaced or emptied only
if it is new, empty, or holds what the same job made and nothing else. The proof is a mark, a hidden file with the job
and the names of all files that it wrote. Snakemake knows nothing of the mark, so it is still there when Snakemake has
deleted a record before its job runs again. Without a mark, as in a copy that lost hidden files, the record lists the
files.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

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
        raise SteleError(f"{place}: not replaced, since {where}; give a folder of its own: NAME/{RECORD}")
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
            f"{folder}: not replaced, since it holds files that `{job}` did not make: {names}{more}; give a new or "
            "empty folder, or move them elsewhere"
        )
    if present and made_by != job:
        raise SteleError(f"{folder}: not replaced, since `{made_by}` made it, not `{job}`; give another folder")


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
        what = f"is of `{found}`" if isinstance(found, str) else "is not a record of Stele's"
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


PART, OLD = "stele-part", "stele-old"  # endings of temporary names: what is new, what was there before


def _left(path: Path, kind: str) -> list[Path]:
    """What killed processes left beside `path` under their temporary names of a kind (PART, OLD)."""
    if not Path("/proc/self").exists():
        return []  # who lives cannot be seen
    files = path.parent.glob(f".{glob.escape(path.name)}.*.{kind}")
    owners = {left: left.name.removesuffix(f".{kind}").rpartition(".")[2] for left in files}
    return [left for left, pid in owners.items() if pid.isdigit() and not Path(f"/proc/{pid}").exists()]


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    """A name for this process beside `path`; what killed processes left under such names is removed."""
    for left in _left(path, PART):
        _remove(left)
    return path.with_name(f".{path.name}.{os.getpid()}.{PART}")


def _restore(path: Path) -> None:
    """Puts a folder back that a killed process had moved aside; one whose successor is in place is removed."""
    for left in _left(path, OLD):
        if path.exists():
            _remove(left)
        else:
            os.rename(left, path)


def _sync(path: Path) -> None:
    """Makes the bytes of a file survive a power cut.

    Names are left to the file system's journal, which keeps their order: one that is lost with a power cut is a missing
    output, made again, but one whose bytes are missing would pass for whole.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_files(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            _sync(path)


def _is_unfinished(folder: Path) -> bool:
    """Whether a folder lies in one that this process still writes: `atomic_directory` syncs it as a whole."""
    return any(part.startswith(".") and part.endswith(f".{os.getpid()}.{PART}") for part in folder.parts)


@contextmanager
def atomic_file(path: Path | str, mode: str = "w", **open_options: Any) -> Iterator[IO]:
    """Opens a temporary file beside `path` and moves it there when the block ends without an error."""
    path = Path(path)
    if path.is_dir():
        raise SteleError(f"{path}: a folder, want the name of a file to write")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    if "b" not in mode:
        open_options.setdefault("encoding", "utf-8")
        open_options.setdefault("newline", "\n")
    try:
        with open(temporary, mode, **open_options) as handle:
            yield handle
        if not _is_unfinished(path.parent):
            _sync(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(path: Path | str, job: str) -> Iterator[Path]:
    """Yields an empty folder beside `path` and swaps it in, synced, when the block ends without an error.

    What was at `path` before stays until then; SteleError where it is not all this job's (`check_replaceable`). A
    process that is killed in the middle of the swap leaves it under another name, and the next use puts it back.
    """
    path = check_replaceable(Path(path), job)
    path.parent.mkdir(parents=True, exist_ok=True)
    _restore(path)
    temporary = _temporary(path)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        swap_in(temporary, path, job)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def swap_in(new: Path, path: Path, job: str) -> None:
    """Puts a finished folder, marked and synced, in the place of what was at `path`; SteleError as `check_replaceable`.

    Both are on one file system.
    """
    path, old = check_replaceable(path, job), path.with_name(f".{path.name}.{os.getpid()}.{OLD}")
    atomic_write_json(new / MARK, mark_of(new, job))
    if not _is_unfinished(path.parent):
        _sync_files(new)
    try:
        if path.exists():
            os.rename(path, old)
        os.rename(new, path)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        if old.exists() and not path.exists():
            os.rename(old, path)  # the second rename failed


def claim(folder: Path, job: str, known: Callable[[str], object] = lambda name: None) -> None:
    """Takes a folder for a job's files under way: a new or an empty one, or one where all names are `known` ones.

    From then on everything in it is this job's. SteleError for another folder.
    """
    if not is_claimed(folder, job):
        check_claimable(folder, job, known)
        atomic_write_json(folder / MARK, {"job": job})


def drop_claimed(folder: Path, job: str) -> None:
    """Removes a folder that the job has claimed; any other stays."""
    if is_claimed(folder, job):
        shutil.rmtree(folder, ignore_errors=True)


def atomic_write_json(path: Path | str, value: Any) -> None:
    """Writes JSON with sorted keys, so that equal values are equal bytes."""
    with atomic_file(path) as handle:
        json.dump(value, handle, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
        handle.write("\n")


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for the same bytes where the file system can, else a copy; a target that is there is an error."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        shutil.copyfile(source, target)
