"""Checks names from outside (a repository, index, archive, address or configuration) before they become paths.

All code that writes files under such a name calls `inside`; docs/security.md lists the places.
"""

import importlib.metadata
import re
import unicodedata
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

from stele.errors import SteleError
from stele.files.reading import reading

OF_AN_ADDRESS = "?#%"  # ambiguous: part of a path, or of a URL's query or encoding
# folders of a checkout that never hold results
PROJECT = frozenset(
    {"docs", "envs", "evaluate", "evidence", "logs", "notebooks", "paper_tables", "profiles", "resources", "site"}
    | {"slurm", "src", "state", "tests", "work", "workflow"}
)
STAMP = "scale.txt"  # in every folder of results
PARTS = frozenset({"tables", "cards", "claims", "statistics", "parameters"})  # its subfolders, besides benchmarks
STUDY = "study.json"  # in packed results, which no job writes to: the claims at their start
# of the workflow
FILES = ("Snakefile", "config.yaml", "config.schema.json", "envs", "paper_tables", "profiles", "workflow")
CARRIED = "share/stele/Snakefile"  # as setup.py places it


def read_stamp(folder: Path) -> str | None:
    """Reads the name of the scale whose results a folder holds; None for a new folder."""
    path = folder / STAMP
    with reading(path, "name of a scale", "write the scale of these results into it"):
        return path.read_text(encoding="utf-8").strip() or None if path.exists() else None


def relative(name: str, where: str) -> str:
    """Normalises a name to a path below some folder, without `.` and doubled slashes; `where` begins the errors.

    Raises SteleError for an empty name, an absolute path, a drive, `..`, a backslash, a control character (NUL and
    others), and the characters that have another meaning in a URL.

    >>> relative("1_Dense/./model.safetensors", "modules.json")
    '1_Dense/model.safetensors'
    """
    if not isinstance(name, str):
        raise SteleError(f"{where}: want the name of a file, found {name!r}")
    parts = name.split("/")
    wrong = [sign for sign in name if sign in "\\" + OF_AN_ADDRESS or unicodedata.category(sign) in ("Cc", "Cs")]
    if wrong or ".." in parts or name.startswith("/") or re.match(r"[A-Za-z]:", name):
        raise SteleError(
            f"{where}: {name!r} could lead outside its folder; want a plain relative path "
            r"(no '..', '/' in front, '\', '?', '#', '%' or control character)"
        )
    if not [part for part in parts if part not in ("", ".")]:
        raise SteleError(f"{where}: {name!r} names no file")
    return PurePosixPath(name).as_posix()


def inside(folder: Path, name: str, where: str) -> Path:
    """Path inside `folder` for a name from outside.

    Raises:
        SteleError: `relative` refuses the name, or a link leads out of the folder; the error begins with `where`.
    """
    path = folder / relative(name, where)
    if not path.resolve().is_relative_to(folder.resolve()):
        raise SteleError(f"{where}: {name!r} leads out of {folder} through a link; nothing is written there")
    return path


def results_problem(folder: str, root: Path, benchmarks: Container[str] = ()) -> str | None:
    """Reason, as text, why a folder cannot be used for results; None for a folder that can.

    It can if it is new or empty, or holds results already. Inside the project (`root`) it must not be one of the
    project's own folders, but may hold outputs of commands run by hand: folders of `benchmarks`, of tables, records.
    """
    try:
        return _problem(folder, root.resolve(), (root / folder).resolve(), benchmarks)
    except (OSError, RuntimeError) as error:  # no permission, links in a loop
        return f"it cannot be looked into: {error}"


def _problem(folder: str, root: Path, path: Path, benchmarks: Container[str]) -> str | None:
    if folder.startswith("-"):
        return "a command would take it for an option"
    if root.is_relative_to(path):
        return "the project lies in it"
    if path.is_relative_to(root):
        first = path.relative_to(root).parts[0]
        ours = first in PROJECT or first.startswith(".")
        return f"{first}/ is the project's" if ours else _conflict(path, lambda entry: _by_hand(entry, benchmarks))
    if ".." in Path(folder).parts:
        return f"it leads out of the project; if that is meant, write {path}"
    if (root / folder).is_symlink() and not path.exists():
        return "it is a link that leads nowhere"
    return _conflict(path, lambda entry: False)  # named from / on, or a link of the user's to a larger disk


def _by_hand(entry: Path, benchmarks: Container[str]) -> bool:
    """Whether a file or folder in a folder without a stamp may be the output of one of our commands."""
    if entry.is_dir():
        return entry.name in PARTS or entry.name in benchmarks
    return entry.suffix == ".json" or entry.stem == "README" or entry.name.startswith(".")


def _conflict(path: Path, known: Callable[[Path], bool]) -> str | None:
    """Reason, as text, why a folder is not free for results, or None; contents that `known` accepts do not matter."""
    if other := _results_around(path):
        return f"it lies in {other}/, which holds results of its own"
    if path.exists() and not path.is_dir():
        return "it is a file"
    if path.exists() and not (path / STAMP).is_file() and not all(map(known, path.iterdir())):
        return f"it holds other files (and no {STAMP}, as a folder of results has); give a new or an empty one"
    return None


def _results_around(path: Path) -> Path | None:
    return next((parent for parent in path.parents if (parent / STAMP).is_file()), None)


def refuse_within_results(folder: Path) -> None:
    """Raises SteleError for a folder within one of results, where its files would be read as results."""
    if other := _results_around(folder.resolve()):
        raise SteleError(f"{folder}: lies in {other}, which holds results; give a folder beside it")


# --- the workflow's files beside the package: in its clone, or as a wheel carries them --------------------------------
def project_folder() -> Path:
    """Folder of the Snakefile that belongs to this package.

    Raises SteleError if the package comes without a Snakefile.
    """
    for snakefile in _places():
        if snakefile.is_file():
            return snakefile.resolve().parent
    folder = Path(__file__).parents[3]
    raise SteleError(f"{folder} and the package have no Snakefile; install Stele with pip, or clone its repository")


def _places() -> Iterator[Path]:
    """Yields possible Snakefiles: of a clone, as pip installed it, and as `pip install --target` moved it."""
    above = Path(__file__).parents
    yield above[3] / "Snakefile"
    with suppress(importlib.metadata.PackageNotFoundError):
        files = importlib.metadata.files("stele") or ()
        yield from (Path(file.locate()) for file in files if file.as_posix().endswith(CARRIED))
    yield above[2] / CARRIED
