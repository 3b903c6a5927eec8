"""Edits of a copied project that make its jobs wait, or do something of the test's on their first try."""

from __future__ import annotations

import shutil
from pathlib import Path

ENCODER = "work/tiny/encoders/msm/pt0/record.json"
STEP = "AfterStep(module.after_step)"
SLOW = 'AfterStep(lambda process: (module.after_step(process), __import__("time").sleep(2 * Path("slow").exists())))'


def change(path: Path, old: str, new: str) -> None:
    """Edits a file of a project in one place."""
    text = path.read_text()
    assert text.count(old) == 1, f"{path}: {old!r}"
    path.write_text(text.replace(old, new))


def before(module: Path, code: str) -> None:
    """Lets a command do something first; `args` are its arguments."""
    lines = ["", "", "_whole = run", "", "", "def run(args):", *(f"    {line}" for line in code.splitlines())]
    module.write_text(module.read_text() + "\n".join([*lines, "    _whole(args)", ""]))


def slowly(project: Path) -> None:
    """No encoder yet, and one whose 60 steps take two minutes while there is a file `slow`."""
    change(project / "src/stele/pretraining/pretrain.py", STEP, SLOW)
    shutil.rmtree(project / "work/tiny/encoders")
    log_file(project).unlink()
    (project / "slow").touch()


def at_speed(project: Path) -> None:
    """Nothing waits between steps any more."""
    (project / "slow").unlink()


def log_file(project: Path) -> Path:
    return project / "logs/tiny/pretrain/msm.pt0.log"


def log(project: Path) -> str:
    """What the training has written to its log."""
    path = log_file(project)
    return path.read_text() if path.exists() else ""


def saved(project: Path) -> bool:
    """Whether the training runs and has saved a state."""
    return any((project / "state/tiny/pretrain").rglob("training.pt")) and "step" in log(project)
