"""What training jobs keep: the state of an unfinished run, and one file for each query set with epochs.csv.

A job that was killed resumes from its state only if nothing that decides its result has changed; otherwise it starts
anew and drops the state of the other run. So each recipe, inputs, seed and code have a folder of their own.
"""

from __future__ import annotations

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

NAME = re.compile(r"stele-[0-9a-f]{16}")  # of the folder of a run: nobody else's is called so


def own_folder(
    state: Path, *, recipe: Values, inputs: Mapping[str, Path], seed: int, code: str, first: bool = True
) -> Path:
    """The folder inside `state` of the run that these make; the first process drops those of other runs.

    `inputs` are records (or files): their contents count, not their places.
    """
    contents = {name: records.content_digest(path) for name, path in inputs.items()}
    folder = state / f"stele-{digest([recipe, contents, seed, code])}"
    folder.mkdir(parents=True, exist_ok=True)
    if first:
        for other in state.iterdir():
            if other.is_dir() and NAME.fullmatch(other.name) and other != folder:
                shutil.rmtree(other)
    return folder


def drop(folder: Path) -> None:
    """Removes the folder of a run that is done, and the one around it if nothing else lies there."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()


EPOCHS = "epochs.csv"


def write_with_epochs(
    folder: Path, job: str, suffix: str, files: Mapping[str, Callable[[Path], object]], epochs: Iterable[Iterable[Any]]
) -> tuple[dict[str, FileFacts], str]:
    """Writes `folder` (query set -> what writes its file, of this suffix) and the rows of epochs.csv beside it.

    Returns the facts of all of them, by their paths from the record beside `folder`, and a digest of the folder's.
    """
    with atomic_directory(folder, job) as made:
        for name, write in files.items():
            write(made / f"{name}{suffix}")
    with atomic_file(folder.parent / EPOCHS) as handle:
        write_csv(handle, epochs)
    facts = {name: file_facts(folder / f"{name}{suffix}") for name in files}
    outputs = {f"{folder.name}/{name}{suffix}": own for name, own in facts.items()}
    return outputs | {EPOCHS: file_facts(folder.parent / EPOCHS)}, facts_digest(facts)
