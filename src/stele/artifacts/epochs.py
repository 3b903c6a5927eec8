"""What a job leaves that is trained for several query sets: a folder with a file of each, and epochs.csv beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from stele.files.atomic import FileFacts, atomic_directory, atomic_file, facts_digest, file_facts
from stele.files.csv_files import write_csv

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
