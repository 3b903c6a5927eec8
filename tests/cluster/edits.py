"""Edits of a copied project that make its jobs wait, or do something of the test's on their first try."""

import re
import shutil
from pathlib import Path

ENCODER = "work/tiny/encoders/msm/pt0/record.json"
STEP = "AfterStep(module.after_step)"
SLOW = "AfterStep(lambda process: (module.after_step(process), _slowly()))"
# The first steps of a process take two seconds, the others twenty, so that the training does not end by itself; each
# ends at once when a signal comes or the file goes.
WAIT = """

import select, signal, socket, time
_woken, _waker = socket.socketpair()
_waker.setblocking(False)
_seconds = [2, 2]


def _slowly():
    signal.set_wakeup_fd(_waker.fileno())
    until = time.monotonic() + (_seconds.pop() if _seconds else 20)
    while Path("slow").exists() and time.monotonic() < until and not select.select([_woken], [], [], 0.2)[0]:
        pass
"""


def change(path: Path, old: str, new: str) -> None:
    """Edits a file of a project in one place."""
    text = path.read_text()
    assert text.count(old) == 1, f"{path}: {old!r}"
    path.write_text(text.replace(old, new))


def before(module: Path, code: str) -> None:
    """Lets a command do something first; `args` are its arguments."""
    text = module.read_text()
    head = re.search(r"^def run\(args: \w+\)", text, re.M)[0]  # its argument's type is the command line
    lines = ["", "", "_whole = run", "", "", f"{head}:", *(f"    {line}" for line in code.splitlines())]
    module.write_text(text + "\n".join([*lines, "    _whole(args)", ""]))


def slowly(project: Path) -> None:
    """No encoder yet, and one whose steps take a quarter of an hour while there is a file `slow`."""
    pretrain = project / "src/stele/pretraining/pretrain.py"
    change(pretrain, STEP, SLOW)
    pretrain.write_text(pretrain.read_text() + WAIT)
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
