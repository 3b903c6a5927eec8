"""Pretraining after a kill: the same command goes on, any other starts anew."""

import multiprocessing
import os
import signal
import sys
import time

import pytest
from pretrain_runs import arguments, weights
from tiny_checkpoint import checkpoint

from stele.artifacts.records import read_record
from stele.command.cli import main


@pytest.mark.parametrize(("objective", "steps"), [("msm", 150), ("moco", 80)])
def test_kill_9_then_the_same_command_ends_in_the_same_bytes(tmp_path, base, pairs, objective, steps):
    """The command in processes of its own: killed once half-way, sent SIGTERM once, then left alone."""

    def start(name):
        command = arguments(tmp_path / name, base, pairs, objective, steps=steps, save_every_seconds=0.1)

        def run():
            sys.stderr = (tmp_path / name / "log").open("a", buffering=1)
            os._exit(main(command))

        process = multiprocessing.get_context("fork").Process(target=run)
        process.start()
        return process

    (tmp_path / "calm").mkdir(), (tmp_path / "rough").mkdir()
    calm = start("calm")
    saved = tmp_path / "rough" / "state"

    def time_of_state():
        return max((path.stat().st_mtime_ns for path in saved.rglob("training.pt")), default=0)

    for number, code in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 1)):
        before = time_of_state()
        process = start("rough")
        deadline = time.monotonic() + 60
        while time_of_state() == before:
            assert process.is_alive() and time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(process.pid, number)
        process.join(60)
        assert process.exitcode == code
        assert not (tmp_path / "rough" / "out" / "record.json").exists()
    assert "stele: error: pretrain mine: stopped by SIGTERM after step" in (tmp_path / "rough" / "log").read_text()
    again = start("rough")
    for process in (again, calm):
        process.join(60)
        assert process.exitcode == 0
    assert "going on after step" in (tmp_path / "rough" / "log").read_text()
    for name in ("model.safetensors", "curve.csv"):
        assert (tmp_path / "rough/out" / name).read_bytes() == (tmp_path / "calm/out" / name).read_bytes()
    content = {name: read_record(tmp_path / name / "out" / "record.json")["content"] for name in ("calm", "rough")}
    assert content["calm"] == content["rough"]


CHANGES = {
    "recipe": {"mu": 0.0, "temperature": 1.0},
    "code": {"code": "another"},
    "pairs": {},
    "base": {},
}


@pytest.mark.parametrize("changed", list(CHANGES))
def test_killed_and_run_again_as_another_run_it_starts_anew(tmp_path, base, pairs, capsys, changed):
    """No state of the killed run is taken: the bytes are those of a clean run of the second command."""
    few = {"steps": 60, "save_every_seconds": 0}
    for name in ("killed", "clean", "other"):
        (tmp_path / name).mkdir()
    command = arguments(tmp_path / "killed", base, pairs, **few)
    process = multiprocessing.get_context("fork").Process(target=lambda: os._exit(main(command)))
    process.start()
    deadline = time.monotonic() + 60
    while not list((tmp_path / "killed" / "state").rglob("training.pt")):
        assert process.is_alive() and time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join(60)
    given = {"pairs": pairs, "base": base}
    if changed == "pairs":
        given["pairs"] = {**pairs, "msm:en": pairs["msm:sw"]}
    if changed == "base":
        given["base"] = checkpoint(tmp_path / "other", seed=8)
    capsys.readouterr()
    for name in ("killed", "clean"):
        assert main(arguments(tmp_path / name, **given, **few, **CHANGES[changed])) == 0
    assert "going on after step" not in capsys.readouterr().err
    assert weights(tmp_path / "killed" / "out") == weights(tmp_path / "clean" / "out")
    assert not (tmp_path / "killed" / "state").exists()
