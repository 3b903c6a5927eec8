"""A pretraining in two processes, started as a rule starts it: told to stop, killed, and begun again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pretrain_runs import arguments

from stele.artifacts.records import read_record
from stele.command.cli import main
from tests.forked import forked
from tests.waiting import PATIENCE, wait_for


def command(folder, base, pairs):
    return arguments(folder, base, pairs, steps=20, save_every_seconds=0, encode_chunk=2)


def start(folder, base, pairs):
    """The command, its output appended to a log."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "STELE_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "0,1"}
    with (folder / "log").open("a") as log:
        program = [sys.executable, "-m", "stele", "--gpus", "2", "--cpus", "2"]
        return subprocess.Popen([*program, *command(folder, base, pairs)], env=environment, stdout=log, stderr=log)


@pytest.mark.slow
def test_stopped_and_killed_it_goes_on_to_the_bytes_of_a_calm_run(tmp_path, base, pairs, capfd):
    rough, calm = tmp_path / "rough", tmp_path / "calm"

    def saved():
        return max((path.stat().st_mtime_ns for path in (rough / "state").rglob("training.pt")), default=0)

    def begun():
        before, process = saved(), start(rough, base, pairs)
        wait_for(lambda: saved() != before or process.poll() is not None)
        return process

    for number, code in ((signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, 1)):
        process = begun()
        try:
            assert process.poll() is None, (rough / "log").read_text()
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            os.kill(process.pid if number == signal.SIGTERM else int(children[1]), number)
            assert process.wait(PATIENCE) == code
        finally:
            process.kill()
        assert not (rough / "out").exists()
    output = (rough / "log").read_text()
    assert "stele: error: pretrain mine: stopped by SIGTERM after step" in output
    assert "stele: error: process 1 ended by SIGKILL" in output
    assert output.count("resuming after step") == 1

    def undisturbed(folder):
        def work(rank):
            assert main(command(folder, base, pairs)) == 0

        return forked(2, work)

    calm.mkdir()
    assert undisturbed(calm) == [0, 0] and "resuming after step" not in capfd.readouterr().err
    assert undisturbed(rough) == [0, 0] and "resuming after step" in capfd.readouterr().err
    for name in ("model.safetensors", "curve.csv"):
        assert (rough / "out" / name).read_bytes() == (calm / "out" / name).read_bytes()
    assert {read_record(folder / "out/record.json")["processes"] for folder in (rough, calm)} == {2}
