"""Locks that killed runs leave: removed when surely stale, kept when their owner may live."""

import json
import os
import shutil
import socket
import subprocess
import sys

import pytest

from stele.command.parent_watch import identity
from stele.errors import SteleError
from stele.snakemake_support import locks


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    locks.LOCKS.mkdir(parents=True)
    locks.DRIVERS.mkdir()
    (locks.LOCKS / "0.output.lock").write_text("results/a.json")
    return tmp_path


def record(name, process):
    path = locks.DRIVERS / f"{name}.json"
    path.write_text(json.dumps({"process": process}))
    return path


def locked():
    return locks.LOCKS.is_dir() and any(locks.LOCKS.iterdir())


DEAD = f"999999:1@{socket.gethostname()}/x"
AWAY = "77:1@login1/y"


@pytest.mark.parametrize(
    "process", [DEAD, identity(os.getpid()).replace(":", ":9")], ids=["dead", "of another process"]
)
def test_the_locks_of_a_killed_run_go(folder, process, capsys):
    path = record("dead", process)
    assert locks.clear_stale_locks()
    assert not locked() and not path.exists()
    assert "its locks are removed" in capsys.readouterr().err


def test_the_locks_of_a_living_run_stay(folder):
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as living:
        record("living", identity(living.pid))
        record("dead", DEAD)
        locks.clear_stale_locks()
        assert locked()
        living.stdin.close()


def test_a_run_of_another_host_keeps_its_locks_and_the_user_is_told_the_way_out(folder, capsys):
    path = record("away", AWAY)
    record("dead", DEAD)
    locks.clear_stale_locks()
    assert locked() and path.exists()
    message = capsys.readouterr().err
    assert "login1" in message and "snakemake --unlock" in message


def test_after_an_unlock_what_another_host_noted_is_forgotten_and_clearing_works_again(folder, capsys):
    path = record("away", AWAY)
    (locks.LOCKS / "0.output.lock").unlink()  # snakemake --unlock
    locks.clear_stale_locks()
    assert not path.exists() and "login1" not in capsys.readouterr().err
    (locks.LOCKS / "0.output.lock").write_text("results/a.json")
    record("dead", DEAD)
    locks.clear_stale_locks()
    assert not locked()


def test_a_run_notes_and_forgets_itself_and_is_no_stranger_to_itself(folder):
    locks.note()
    assert len(list(locks.DRIVERS.glob("*.json"))) == 1
    locks.clear_stale_locks()
    assert locked()
    locks.forget()
    assert not list(locks.DRIVERS.glob("*.json"))


def test_a_record_that_cannot_be_read_is_removed_and_locks_without_any_are_not_ours_to_remove(folder):
    path = locks.DRIVERS / "half.json"
    path.write_text('{"process": ')
    locks.clear_stale_locks()
    assert not path.exists() and locked()


def test_the_note_of_a_copied_folder_is_of_another_folder_s_run(folder, tmp_path_factory):
    """The first folder's run lives; its copy has its lock and its note, and must not be told to kill it."""
    first, outputs = folder, ["results/a.json"]
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as living:
        path = record("living", identity(living.pid))
        note = {"process": identity(living.pid), "folder": str(first), "since": "2026-01-02 03:04", "outputs": outputs}
        path.write_text(json.dumps(note))
        with pytest.raises(SteleError, match=rf"process {living.pid} on \S+, since 2026-01-02 03:04\) builds results"):
            locks.note(outputs)
        locks.forget()
        copy = tmp_path_factory.mktemp("copy") / "project"
        shutil.copytree(first, copy)
        os.chdir(copy)
        locks.note(outputs)
        locks.clear_stale_locks()
        assert not locked() and locks.living_run() is None
        os.chdir(first)
        assert locked() and locks.living_run()["since"] == "2026-01-02 03:04"
        living.stdin.close()
