"""The short chain in a copy of the project: where `stele cluster check` and the tests try a cluster without harm."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stele.errors import SteleError

PARTS = ("Snakefile", "config.yaml", "config.schema.json", "pyproject.toml")
PARTS += ("src", "workflow", "profiles", "envs", "paper_tables", "slurm")
SCALE = Path(__file__).with_name("tiny.yaml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info")


def project() -> Path:
    """The folder of the Snakefile that this package belongs to."""
    folder = Path(__file__).parents[3]
    if not (folder / "Snakefile").is_file():
        raise SteleError(f"{folder} has no Snakefile: run this from a clone of Stele (make setup)")
    return folder


def copy_project(root: Path, to: Path) -> Path:
    """What git holds of the project's workflow, without results or state."""
    to.mkdir(parents=True)
    for part in PARTS:
        source = root / part
        if source.is_symlink():
            (to / part).symlink_to(os.readlink(source))
        elif source.is_dir():
            shutil.copytree(source, to / part, ignore=LEFT_OUT)
        else:
            shutil.copy2(source, to / part)
    return to


def start(folder: Path, log: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen:
    """Starts the workflow in a folder, in a process group of its own; its output goes to `log`."""
    command = [sys.executable, "-m", "snakemake", *arguments]
    with log.open("w") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )


class Build:
    """A run of the workflow in a folder; its output goes to `check.log` there."""

    def __init__(self, folder: Path, *arguments: str, environment: Mapping[str, str]) -> None:
        self.log, self.ended = folder / "check.log", False
        self.process = start(folder, self.log, arguments, environment)

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def code(self) -> int | None:
        """Its exit code, None while it runs."""
        return self.process.poll()

    def end(self) -> None:
        """Ends it: a driver that is interrupted cancels its jobs; one that does not end by that is killed."""
        for number, seconds in ((signal.SIGINT, 60), (signal.SIGKILL, 10)):
            if self.code is not None:
                return
            self.ended = True
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=seconds)


def tensors(path: Path) -> dict[str, Any]:
    """Name -> type and shape of the tensors of a safetensors file, read from its header."""
    with path.open("rb") as handle:
        header = json.loads(handle.read(int.from_bytes(handle.read(8), "little")))
    return {name: [of["dtype"], of["shape"]] for name, of in header.items() if name != "__metadata__"}
