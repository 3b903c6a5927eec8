"""What the jobs that search share: checked arguments, the finished searches in a job's state, the runs it publishes."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stele.artifacts.runs.trec import write_run
from stele.benchmarks.arguments import counted
from stele.benchmarks.types import Search
from stele.errors import SteleError
from stele.files.atomic import atomic_directory, atomic_write_json, facts_digest, file_facts
from stele.files.reading import read_state


def check_counts(args: argparse.Namespace, *names: str) -> None:
    """Refuses an argument below 1; None, where an argument is not given, passes."""
    for name in names:
        if (value := getattr(args, name)) is not None and value < 1:
            raise SteleError(f"--{name} must be at least 1, found {value}")


def expected_passages(inputs: Mapping[str, Path], pool: str, *names: str) -> int | None:
    """How many passages a pool has, as the records of its data count them (`counted`); for the estimate alone."""
    return counted({key: path for key, path in inputs.items() if key.partition(":")[2] in (pool, "all")}, *names)


@dataclass(frozen=True)
class FinishedSearches:
    """The searches that a job has finished: a run and its facts each, in `folder`; facts of another `key` are stale."""

    folder: Path
    key: str = ""

    def run(self, search: Search) -> Path:
        """The file of a search's run."""
        return self.folder / f"{search.name}.trec.gz"

    def facts(self, search: Search) -> dict[str, Any] | None:
        """What is known of a finished search; None while it is not finished."""
        state = read_state(self.folder / f"{search.name}.json")
        return state["facts"] if state and state["key"] == self.key else None

    def save(
        self, search: Search, hits: Iterable[tuple[str, Sequence[tuple[str, float]]]], facts: Mapping[str, Any]
    ) -> None:
        """Writes the run of (query id, hits), then the facts, which say that it is whole."""
        write_run(self.run(search), hits, tag="stele")
        atomic_write_json(self.folder / f"{search.name}.json", {"key": self.key, "facts": facts})

    def publish(self, searches: Sequence[Search], folder: Path) -> dict[str, Any]:
        """Copies the runs of all searches to `folder`; returns the `outputs` and `content` of their record."""
        with atomic_directory(folder) as made:
            for search in searches:
                shutil.copyfile(self.run(search), made / self.run(search).name)
        runs = {search.name: file_facts(self.run(search)) for search in searches}
        outputs = {f"{folder.name}/{self.run(search).name}": runs[search.name] for search in searches}
        return {"outputs": outputs, "content": facts_digest(runs)}
