"""A command of `sources` as tests run it."""

import json
from abc import ABC, abstractmethod
from pathlib import Path

from stele.files.atomic import MARK


class SourceRun(ABC):
    """A command with its output and state."""

    def __init__(self, output: Path, state: Path, capsys) -> None:
        self.output, self.state, self.capsys = output, state, capsys

    @abstractmethod
    def __call__(self, *given, **more) -> int:
        """Runs the command; returns its exit code."""

    def refused(self, *given, **more) -> str:
        """What it says where it must fail."""
        assert self(*given, **more) == 1
        return self.capsys.readouterr().err

    @property
    def record(self) -> dict:
        return json.loads(self.output.read_text())

    def have(self) -> list[str]:
        """The files of its output."""
        folder = self.output.parent
        files = [path for path in folder.rglob("*") if path.is_file() and path.name != MARK]
        return sorted(path.relative_to(folder).as_posix() for path in files)
