"""Pretraining after a kill: the same command goes on, any other starts anew."""

import os
import signal
import sys

import pytest
import torch
from pretrain_runs import arguments, weights
from tiny_checkpoint import checkpoint

from stele.artifacts.records import read_record
from stele.command.cli import main
from tests.killing import ended, kill_after


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
