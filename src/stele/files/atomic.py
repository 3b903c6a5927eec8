"""Writes outputs whole or not at all, and replaces only files that the same job wrote.

A file or folder is written under a temporary name beside its path, then moved. A folder is replaced only if it is new
or empty, or if the same job made everything in it. The proof is a mark: a hidden file with the job and the names of all
files that it wrote, which remains when Snakemake deletes a record. Without a mark, the record lists the files.
"""

import glob
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any

from stele.errors import SteleError
from stele.files.reading import JsonObject, read_note, reading

MARK, RECORD = ".stele.json", "record.json"
NOBODYS = (MARK, ".DS_Store", ".snakemake_timestamp")
NOBODYS_BEGIN = (".nfs", f".{MARK}.")  # an NFS server's deleted but open file; a mark left by a killed process
CREATOR = "Stele: tables of papers on dense retrieval"  # in each figure and page, and in documents of all tables
SHOWN = 3  # names in a message


def check_replaceable(
    folder: Path, job: str, record: str = RECORD, stays: Callable[[str], object] = lambda name: False
) -> Path:
    """Resolves the links of a folder's path. Raises SteleError if `job` may not replace the folder.

    `record` is the name of its record; files and folders whose name `stays` accepts are not replaced with it.

    The error is raised for a folder with files that this job did not make, for the folder in which the command runs and
    those above it, for a file, a broken link, and a path without permission to write.
    """
    try:
        place = folder.resolve()
    except (OSError, RuntimeError) as error:  # links in a loop
        raise SteleError(f"{folder}: its links cannot be followed ({error}); give another folder") from None
    if Path.cwd().is_relative_to(place):
        where = "the command runs in it" if Path.cwd() == place else "the command runs in a folder of it"
        raise SteleError(f"{place}: not replaced, since {where}; give a folder of its own, as in NAME/{RECORD}")
    if folder.is_symlink() and not place.exists():
        raise SteleError(f"{folder}: a link that leads nowhere; create {place}, or give another folder")
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
    made_by, listed = _job_and_files(folder, record)
    if foreign := [name for name in present if name not in listed]:
        further = f" and {len(foreign) - SHOWN} more" if len(foreign) > SHOWN else ""
        names = ", ".join(map(repr, foreign[:SHOWN]))
        raise SteleError(
            f"{folder}: not replaced, since it holds files that `{job}` did not make: {names}{further}; give a new or "
            "empty folder, or move them elsewhere"
        )
    if present and made_by != job:
        raise SteleError(f"{folder}: not replaced, since `{made_by}` made it, not `{job}`; give another folder")


def entries(folder: Path) -> Iterator[str]:
    """Yields the files, links and empty folders below a folder, as ordered relative paths; follows no link."""
    for at, folders, files in os.walk(folder, onerror=_cannot):
        folders.sort()
        links = [name for name in folders if Path(at, name).is_symlink()]
        names = [name for name in files if name not in NOBODYS and not name.startswith(NOBODYS_BEGIN)]
        below = Path(at).relative_to(folder)
        yield from ((below / name).as_posix() for name in sorted([*names, *links]))
        if not folders and not names and below != Path():
            yield below.as_posix()


def _cannot(error: OSError) -> None:
    raise error


def _job_and_files(folder: Path, name: str = RECORD) -> tuple[str, set[str]]:
    """Returns the job that made a folder and the names of all files it wrote there; ("", set()) if unknown."""
    if mark := read_note(folder / MARK):
        return str(mark.get("job")), _names(mark.get("files"))
    record = read_note(folder / name)
    if not isinstance(record.get("job"), str):
        return "", set()
    return record["job"], {name} | _names(record.get("outputs")) | _names(record.get("files"))


def _names(value: object) -> set[str]:
    """Names of the files listed in a record or a mark, and of the folders that contain them."""
    names = set(map(str, value)) if isinstance(value, list | dict) else set()
    return names | {above.as_posix() for name in names for above in PurePosixPath(name).parents}


def mark_of(folder: Path, job: str) -> JsonObject:
    """Contents of the mark of a finished folder: the job, and all files in the folder."""
    return {"job": job, "files": list(entries(folder))}


def is_made(folder: Path, job: str) -> bool:
    """Whether this job made the folder in an earlier run, by its mark or record."""
    return _job_and_files(folder)[0] == job


def check_record(path: Path, job: str) -> None:
    """Raises SteleError if the path of a job's record is a folder, or a file that is not a record of this job."""
    if path.is_dir():
        raise SteleError(f"{path}: a folder, want the name of a file to write")
    if path.exists() and (found := read_note(path).get("job")) != job:
        what = f"was made by `{found}`" if isinstance(found, str) else "is not a record of Stele's"
        raise SteleError(f"{path}: {what}, so `{job}` does not replace it; give another name, or remove it first")


def check_marked(path: Path) -> Path:
    """Returns the path of a figure or page to write. Raises SteleError if a file is there without the creator mark."""
    with reading(path):
        if path.is_file() and CREATOR.encode() not in path.read_bytes():
            raise SteleError(f"{path}: exists, and Stele did not write it; give another name, or remove it first")
    return path


def check_claimable(folder: Path, job: str, known: Callable[[str], object]) -> None:
    """Raises SteleError if a folder that this job has not claimed holds a file whose name `known` does not accept."""
    if is_claimed(folder, job) or not folder.is_dir():
        return
    if foreign := next((name for name in entries(folder) if not known(name)), None):
        raise SteleError(f"{folder}: holds {foreign!r}, which `{job}` did not make; give a new or an empty folder")


def is_claimed(folder: Path, job: str) -> bool:
    """Whether this job has claimed a folder, so that it owns everything in it."""
    return read_note(folder / MARK) == {"job": job}


PART, OLD = "stele-part", "stele-old"  # endings of temporary names: new and replaced files
LONGEST = 200  # most bytes of a name, so that the temporary one has less than 255


def _stem(path: Path) -> str:
    """The stem of a temporary name: the path's name, or a digest of a very long one."""
    name = os.fsencode(path.name)
    return path.name if len(name) <= LONGEST else hashlib.sha256(name).hexdigest()


def _leftovers(path: Path, kind: str) -> list[Path]:
    """Files that killed processes left beside `path` under temporary names of a kind (PART, OLD)."""
    if not Path("/proc/self").exists():
        return []  # cannot tell which processes live
    begin = f".{_stem(path)}."
    files = path.parent.glob(f"{glob.escape(begin)}*.{kind}")
    owners = {left: left.name.removeprefix(begin).removesuffix(f".{kind}") for left in files}
    own = str(os.getpid())  # left by a killed process with this id, since this process has not begun to write
    return [left for left, pid in owners.items() if pid == own or (pid.isdigit() and not Path("/proc", pid).exists())]


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _temporary(path: Path) -> Path:
    """Returns a temporary name for this process beside `path`; removes files that killed processes left there."""
    for left in _leftovers(path, PART):
        _remove(left)
    return path.with_name(f".{_stem(path)}.{os.getpid()}.{PART}")


def _restore(path: Path) -> None:
    """Moves back a folder that a killed process had moved aside, or removes it if a new one has taken its place."""
    for left in _leftovers(path, OLD):
        if path.exists():
            _remove(left)
        else:
            os.rename(left, path)


def _sync(path: Path) -> None:
    """Flushes a file to disk, so that its bytes survive a power cut.

    File names need no flush: the file system's journal keeps their order, and an output whose name is lost is made
    again. A file with a name but without its bytes, however, would be taken for complete.
    """
    with open(path, "rb") as handle:
        os.fsync(handle.fileno())


def _is_unfinished(folder: Path) -> bool:
    """Whether a folder is in one that this process still writes, which `atomic_directory` will flush."""
    return any(part.startswith(".") and part.endswith(f".{os.getpid()}.{PART}") for part in folder.parts)


@contextmanager
def atomic_file(path: Path | str, mode: str = "w", **open_options: Any) -> Iterator[IO]:
    """Opens a temporary file beside `path` and moves it there if the block ends without an error. Refuses a folder."""
    path = Path(path)
    if path.is_dir():
        raise SteleError(f"{path}: a folder, want the name of a file to write")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(path)
    if "b" not in mode:
        open_options = {"encoding": "utf-8", "newline": "\n"} | open_options
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
    """Yields an empty folder beside `path`, flushes it and moves it to `path` if the block ends without an error.

    The old folder stays until then; raises SteleError if `job` may not replace it (`check_replaceable`). A process that
    is killed during the swap leaves the old folder under a temporary name, and the next use moves it back.
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
    """Marks and flushes a finished folder and moves it to `path`. Raises SteleError as `check_replaceable`.

    Both paths must be on one file system. Who may read the folder may read its files.
    """
    path, old = check_replaceable(path, job), path.with_name(f".{_stem(path)}.{os.getpid()}.{OLD}")
    atomic_write_json(new / MARK, mark_of(new, job))
    if not _is_unfinished(path.parent):
        readers = new.stat().st_mode & 0o044  # group and others, by the umask; safetensors leaves them out
        for file in new.rglob("*"):
            if file.is_file() and not file.is_symlink():  # a user's own file has long been on its disk
                _sync(file)
                if (status := file.stat()).st_nlink == 1:  # another link may be the user's
                    file.chmod(status.st_mode | readers)
    try:
        if path.exists():
            os.rename(path, old)
        os.rename(new, path)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        if old.exists() and not path.exists():
            os.rename(old, path)  # the second rename failed


def claim(folder: Path, job: str, known: Callable[[str], object] = lambda name: None) -> None:
    """Claims a folder for a job's unfinished files; from then on the job owns everything in it.

    The folder must be new or empty, or hold only names that `known` accepts; else raises SteleError.
    """
    if not is_claimed(folder, job):
        check_claimable(folder, job, known)
        atomic_write_json(folder / MARK, {"job": job})


def drop_claimed(folder: Path, job: str) -> None:
    """Removes a folder that this job has claimed, its mark last: what a kill leaves of it stays the job's."""
    if is_claimed(folder, job):
        for path in {*folder.iterdir()} - {folder / MARK}:
            with suppress(OSError):
                _remove(path)
        shutil.rmtree(folder, ignore_errors=True)


def atomic_write_json(path: Path | str, value: Any) -> None:
    """Writes JSON with sorted keys, so that equal values give equal bytes. Raises ValueError for NaN and infinity."""
    with atomic_file(path) as handle:
        json.dump(value, handle, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
        handle.write("\n")


def link_or_copy(source: Path, target: Path) -> None:
    """Makes a hard link if the file system can, else a copy. Raises FileExistsError if linking finds a `target`."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        shutil.copyfile(source, target)
