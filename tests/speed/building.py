"""What the whole miniature costs: the CPU-seconds of all processes of `make tables`."""

import ctypes
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from stele.cluster.check import SCALE
from tests.speed.table import ROOT, speed

PR_SET_CHILD_SUBREAPER = 36
LITTLE = {"target": "results/mrtydi/bm25/tuned.json", "scale": str(SCALE)}  # ten jobs


@speed({"a limit of 2,000 s": 1.0}, {"target": "all_tables", "scale": "miniature"}, LITTLE, rounds=1)
def tables_in_miniature(folder: Path, target: str, scale: str):
    """A clone of the project builds a target at a scale on two cores."""
    clone = folder / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(clone / "src")
    command = [sys.executable, "-m", "snakemake", target, "--cores", "2", "--config", f"scale={scale}"]

    def build() -> None:
        """The local worker outlives Snakemake, whose child it is; it is waited for here, so that its jobs count."""
        system = ctypes.CDLL(None)
        system.prctl(PR_SET_CHILD_SUBREAPER, 1)
        try:
            subprocess.run(command, cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)
            with suppress(ChildProcessError):
                while True:
                    os.wait()
        finally:  # else what later tests orphan stays here as zombies, for which those wait
            system.prctl(PR_SET_CHILD_SUBREAPER, 0)

    return build, [2000.0], lambda a, b: True
