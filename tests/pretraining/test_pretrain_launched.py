"""A pretraining in two processes, started as a rule starts it: told to stop, killed, and begun again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pretrain_runs import arguments

from stele.artifacts.records import read_record


def start(folder, base, pairs):
    """The command, its output appended to a log."""
    folder.mkdir(exist_ok=True)
    command = arguments(folder, base, pairs, steps=20, save_every_seconds=0, encode_chunk=2)
    environment = {**os.environ, "STELE_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "0,1"}
    with (folder / "log").open("a") as log:
        program = [sys.executable, "-m", "stele", "--gpus", "2", "--cpus", "2"]
        return subprocess.Popen([*program, *command], env=environment, stdout=log, stderr=log)


@pytest.mark.slow
def test_stopped_and_killed_it_goes_on_to_the_bytes_of_a_calm_run(tmp_path, base, pairs):
    """SIGTERM to the launcher, SIGKILL to one process, then left alone."""
    rough, calm = tmp_path / "rough", tmp_path / "calm"

    def saved():
        return max((path.stat().st_mtime_ns for path in (rough / "state").rglob("training.pt")), default=0)

    for number in (signal.SIGTERM, signal.SIGKILL):
        before, process = saved(), start(rough, base, pairs)
        try:
            deadline = time.monotonic() + 120
            while saved() == before:
                assert process.poll() is None and time.monotonic() < deadline, (rough / "log").read_text()
                time.sleep(0.01)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            os.kill(process.pid if number == signal.SIGTERM else int(children[1]), number)
            assert process.wait(30) == {signal.SIGTERM: 128 + signal.SIGTERM, signal.SIGKILL: 1}[number]
        finally:
            process.kill()
        assert not (rough / "out").exists()
    said = (rough / "log").read_text()
    assert "stele: error: pretrain mine: stopped by SIGTERM after step" in said
    assert "stele: error: process 1 ended by SIGKILL" in said
    processes = [start(folder, base, pairs) for folder in (rough, calm)]
    assert [process.wait(120) for process in processes] == [0, 0], (rough / "log").read_text()
    assert (rough / "log").read_text().count("going on after step") == 2
    for name in ("model.safetensors", "curve.csv"):
        assert (rough / "out" / name).read_bytes() == (calm / "out" / name).read_bytes()
    assert {read_record(folder / "out/record.json")["processes"] for folder in (rough, calm)} == {2}
