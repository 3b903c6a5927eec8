"""The disk is full in the middle of a checkpoint: said as that, nothing half-written, what was saved before goes on."""

import os
import resource
import signal
import subprocess
import sys

import pytest

from tests.cluster.conftest import wait_for
from tests.cluster.edits import ENCODER, at_speed, slowly
from tests.waiting import PATIENCE
from tests.workflow.conftest import environment, outputs, snakemake


@pytest.mark.slow
def test_a_full_disk_loses_nothing(here, built):
    slowly(built)
    shown = snakemake(built, "-n", "-p", "--", ENCODER).stdout
    line = next(line for line in shown.splitlines() if " pretraining pretrain " in line)
    command = "exec " + line[line.index("python -m") :].partition(" > ")[0]
    python = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"
    settings = environment(PYTHONPATH=str(built / "src"), PATH=python, STELE_DEVICE="cpu")

    def begin(limit=resource.RLIM_INFINITY):
        return subprocess.Popen(
            command,
            shell=True,
            cwd=built,
            env=settings,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )

    def files():
        folders = (built / "state/tiny/pretrain", built / "work/tiny/encoders")
        return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}

    first = begin()
    wait_for(files, what="a saved step")
    first.send_signal(signal.SIGTERM)
    assert "the state is saved" in first.communicate(timeout=PATIENCE)[1]
    saved = files()
    assert len(saved) == 1
    full = begin(limit=max(map(len, saved.values())) // 2)
    output = full.communicate(timeout=PATIENCE)[1]
    assert full.returncode == 1 and "stele: error: the disk is full" in output and "Traceback" not in output
    assert files() == saved, "the state from before, whole, and nothing beside it"
    at_speed(built)
    last = begin()
    output = last.communicate(timeout=PATIENCE)[1]
    assert last.returncode == 0 and "resuming after step" in output
    assert outputs(built) == outputs(here), "the encoder is the one of a calm training"
