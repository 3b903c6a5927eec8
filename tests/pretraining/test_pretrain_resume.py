"""Pretraining after a kill, of one process or of one of two: the same command goes on, any other starts anew."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from pretrain_runs import arguments, weights
from tiny_checkpoint import checkpoint

from stele.artifacts.records import read_record
from stele.command.cli import main
from tests.forked import forked
from tests.killing import ended, kill_after
from tests.waiting import PATIENCE, wait_for


def interrupted(command, step, number):
    return ended(lambda: sys.exit(main(command)), kill_after(step, number))


@pytest.mark.parametrize("objective", ["msm", "moco", "ccp"])
def test_kill_9_then_the_same_command_ends_in_the_same_bytes(tmp_path, base, pairs, objective, capfd):
    calm, rough = (
        arguments(tmp_path / name, base, pairs, objective, steps=14, save_every_seconds=0) for name in ("calm", "rough")
    )
    assert main(calm) == 0
    for step, number, code in ((5, signal.SIGKILL, -signal.SIGKILL), (9, signal.SIGTERM, 1)):
        assert interrupted(rough, step, number) == code
        assert list((tmp_path / "rough/state").rglob("training.pt"))
        assert not (tmp_path / "rough/out/record.json").exists()
    message = capfd.readouterr().err
    assert "resuming after step 4" in message, "the state of a step is saved after what is due at it"
    assert "stele: error: pretrain mine: stopped by SIGTERM after step 9" in message
    (state,) = (tmp_path / "rough/state").rglob("training.pt")
    torch.save(torch.load(state) | {"spent": (2000.0, 1000.0)}, state)
    assert main(rough) == 0
    of_rough = read_record(tmp_path / "rough/out/record.json")
    assert of_rough["wall_seconds"] > of_rough["train_seconds"] > 2000 and of_rough["cpu_seconds"] > 1000
    assert "resuming after step 9" in capfd.readouterr().err
    for name in ("model.safetensors", "curve.csv"):
        assert (tmp_path / "rough/out" / name).read_bytes() == (tmp_path / "calm/out" / name).read_bytes()
    content = {name: read_record(tmp_path / name / "out" / "record.json")["content"] for name in ("calm", "rough")}
    assert content["calm"] == content["rough"]


def test_what_a_kill_left_of_a_snapshot_is_not_published(tmp_path, base, pairs):
    """Nobody removes it where another process has its process id by now: on another node, or in a container."""
    command = arguments(tmp_path, base, pairs, snapshots=[2], save_every_seconds=0)
    assert interrupted(command, 4, signal.SIGKILL) == -signal.SIGKILL
    (kept,) = (tmp_path / "state").rglob("step-2")
    (kept.parent / f".step-2.{os.getppid()}.stele-part").mkdir()
    (kept.parent / f".step-2.{os.getppid()}.stele-part" / "model.safetensors").touch()
    assert main(command) == 0
    assert [path.name for path in (tmp_path / "out/snapshots").iterdir()] == ["step-2"]
    assert not [name for name in read_record(tmp_path / "out/record.json")["outputs"] if "stele-part" in name]


CHANGES = {
    "recipe": {"mu": 0.0, "temperature": 1.0},
    "code": {"code": "another"},
    "pairs": {},
    "base": {},
}


@pytest.mark.parametrize("changed", list(CHANGES))
def test_killed_and_run_again_as_another_run_it_starts_anew(tmp_path, base, pairs, capsys, changed):
    """No state of the killed run is taken: the bytes are those of a clean run of the second command."""
    few = {"steps": 6, "save_every_seconds": 0}
    (tmp_path / "other").mkdir()
    assert interrupted(arguments(tmp_path / "killed", base, pairs, **few), 4, signal.SIGKILL) == -signal.SIGKILL
    assert list((tmp_path / "killed/state").rglob("training.pt"))
    given = {"pairs": pairs, "base": base}
    if changed == "pairs":
        given["pairs"] = {**pairs, "msm:en": pairs["msm:sw"]}
    if changed == "base":
        given["base"] = checkpoint(tmp_path / "other", seed=8)
    capsys.readouterr()
    for name in ("killed", "clean"):
        assert main(arguments(tmp_path / name, **given, **few, **CHANGES[changed])) == 0
    assert "resuming after step" not in capsys.readouterr().err
    assert weights(tmp_path / "killed" / "out") == weights(tmp_path / "clean" / "out")
    assert not (tmp_path / "killed" / "state").exists()


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
