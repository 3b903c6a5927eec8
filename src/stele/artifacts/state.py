"""Files of training jobs: the state of an unfinished run, one file per query set, and epochs.csv.

A job that was killed resumes from its state only if nothing that determines its result has changed; otherwise it starts
anew and deletes the old state. So each combination of recipe, inputs, seed and code has its own folder.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from stele.artifacts import records
from stele.files.atomic import atomic_directory, atomic_file
from stele.files.digests import FileFacts, digest, facts_digest, file_facts
from stele.files.formats import write_csv
from stele.files.strict import Values

NAME = re.compile(r"stele-[0-9a-f]{16}")  # a run's state folder; no other folder has such a name
REMOVED = "stele-" + 16 * "0"  # while it is removed


def own_folder(
    state: Path, *, recipe: Values, inputs: Mapping[str, Path], seed: int, code: str, first: bool = True
) -> Path:
    """Folder inside `state` for the run with this recipe, inputs, seed and code; creates it.

    With `first` (the first process), folders of other runs are deleted. Inputs are compared by content, not by path.
    """
    contents = {name: records.content_digest(path) for name, path in inputs.items()}
    folder = state / f"stele-{digest([recipe, contents, seed, code])}"
    folder.mkdir(parents=True, exist_ok=True)
    if first:
        for other in state.iterdir():
            if other.is_dir() and NAME.fullmatch(other.name) and other != folder:
                _remove(other)
    return folder


def drop(folder: Path) -> None:
    """Removes the folder of a finished run, and its parent folder if that is then empty."""
    _remove(folder)
    with suppress(OSError):
        folder.parent.rmdir()


def _remove(folder: Path) -> None:
    """Removes a run's folder under another name, so that no later run resumes from what a kill leaves of it."""
    with suppress(OSError):
        folder = folder.rename(folder.with_name(REMOVED))
    shutil.rmtree(folder, ignore_errors=True)


EPOCHS = "epochs.csv"


def write_with_epochs(
    folder: Path, job: str, suffix: str, files: Mapping[str, Callable[[Path], object]], epochs: Iterable[Iterable[Any]]
) -> tuple[dict[str, FileFacts], str]:
    """Writes one file per query set into `folder` (`files`: query set -> writer of its file), and epochs.csv beside it.

    Returns the `file_facts` of all files by path from the folder's parent, and one digest of the files in `folder`.
    """
    with atomic_directory(folder, job) as new_folder:
        for name, write in files.items():
            write(new_folder / f"{name}{suffix}")
    with atomic_file(folder.parent / EPOCHS) as handle:
        write_csv(handle, epochs)
    facts = {name: file_facts(folder / f"{name}{suffix}") for name in files}
    outputs = {f"{folder.name}/{name}{suffix}": facts_of_file for name, facts_of_file in facts.items()}
    return outputs | {EPOCHS: file_facts(folder.parent / EPOCHS)}, facts_digest(facts)
