"""Outputs appear whole or not at all."""

import os
import signal
import subprocess
import sys

import numpy
import pytest
from safetensors.numpy import save_file

from stele.files.atomic import MARK, atomic_directory, atomic_file, atomic_write_json
from stele.files.digests import digest, files_digest


def listed(folder):
    """What lies in a folder, its mark apart."""
    return [path for path in folder.iterdir() if path.name != MARK]


def test_a_failed_write_leaves_the_old_file_and_no_trace(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_file(path) as handle:
        handle.write("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("name", ["a" * 255, "名" * 85])
def test_a_name_may_be_as_long_as_the_file_system_takes(tmp_path, name):
    for _ in range(2):
        with atomic_directory(tmp_path / name, "job") as folder, atomic_file(folder / name) as handle:
            handle.write("x")
    assert [*tmp_path.iterdir()] == [tmp_path / name] and listed(tmp_path / name) == [tmp_path / name / name]


@pytest.fixture
def path(tmp_path):
    """A folder of the job's with a file `a`."""
    with atomic_directory(tmp_path / "folder", "job") as new:
        (new / "a").write_text("old")
    return tmp_path / "folder"


def test_a_failed_folder_leaves_the_old_folder_and_no_trace(path):
    with pytest.raises(RuntimeError), atomic_directory(path, "job") as new:
        (new / "a").write_text("half")
        raise RuntimeError
    assert (path / "a").read_text() == "old"
    assert [*path.parent.iterdir()] == [path]


def test_a_folder_is_on_the_disk_before_it_is_swapped_in_and_each_file_is_synced_once(tmp_path, monkeypatch):
    """Whoever wrote a file: one that only appears whole in memory is empty after a power cut."""
    synced, swapped = [], []
    fsync, rename = os.fsync, os.rename

    def noted(descriptor):
        if not swapped:
            synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    monkeypatch.setattr(os, "rename", lambda source, target: (swapped.append(target), rename(source, target)))
    with atomic_directory(tmp_path / "folder", "job") as new:
        (new / "weights").write_text("by a library")
        with atomic_directory(new / "inner", "job") as inner:
            atomic_write_json(inner / "ours.json", 1)
        swapped.clear()
    files = [name for name in synced if not name.startswith(".")]
    assert sorted(files) == ["ours.json", "weights"] and len(swapped) == 1
    synced.clear(), swapped.clear()
    atomic_write_json(tmp_path / "alone.json", 1)
    assert len(synced) == 1


def test_who_may_read_a_folder_may_read_its_files(tmp_path):
    """safetensors writes files for their owner alone; a group shares a folder of encoders."""
    users = tmp_path / "users"
    users.touch(0o600)
    with atomic_directory(tmp_path / "folder", "job") as new:
        new.chmod(0o750)
        save_file({"weight": numpy.zeros(1)}, new / "model.safetensors")
        os.link(users, new / "users")
    assert (tmp_path / "folder/model.safetensors").stat().st_mode & 0o777 == 0o640
    assert users.stat().st_mode & 0o777 == 0o600


def test_a_linked_file_may_be_where_nothing_can_be_synced(tmp_path):
    """The kernel cannot sync files of a SquashFS image or a CD; nor those of /proc, which stand for them here."""
    with atomic_directory(tmp_path / "folder", "job") as new:
        (new / "users").symlink_to("/proc/version")
    assert (tmp_path / "folder" / "users").is_symlink()


SWAP = """
import os, signal, sys
from stele.files.atomic import atomic_directory
rename, count = os.rename, iter((1, 2, 3))
def dying(source, target):
    if next(count) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    rename(source, target)
os.rename = dying
with atomic_directory(sys.argv[1], "job") as new:
    (new / "b").write_text("b")
"""


@pytest.mark.parametrize("last", [1, 2])
def test_a_folder_outlives_a_kill_in_the_middle_of_the_swap(tmp_path, path, last):
    """Only names that no other program gives are taken for leftovers, and put back or removed."""
    names = (".folder.4194304999.old", ".folder.4194304999.part", "folder.part", ".folder.notes.stele-part")
    users = [tmp_path / name for name in names]
    for other in users:  # no names of ours, though they look like ours
        (other / "chapters").mkdir(parents=True)
    killed = subprocess.run([sys.executable, "-c", SWAP, str(path), str(last)])
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(RuntimeError), atomic_directory(path, "job"):
        raise RuntimeError  # the next use fails as well
    assert [p.name for p in listed(path)] == ["a"]
    with atomic_directory(path, "job") as new:
        (new / "c").write_text("c")
    assert [p.name for p in listed(path)] == ["c"]
    assert {*tmp_path.iterdir()} == {path, *users} and all((other / "chapters").exists() for other in users)


def test_a_killed_process_may_have_had_the_number_of_this_one(path):
    """As in a container, whose processes get the same numbers each time."""
    for kind in ("old", "part"):
        (left := path.parent / f".folder.{os.getpid()}.stele-{kind}").mkdir()
        (left / "b").write_text("b")
    with atomic_directory(path, "job") as new:
        (new / "c").write_text("c")
    assert [p.name for p in listed(path)] == ["c"] and [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("kind", ["old", "part"])
def test_a_name_that_goes_on_with_a_point_is_another_outputs(path, kind):
    """As the models gte-v1 and gte-v1.5, of which one was killed, or is being written by this process."""
    others = [path.parent / f".folder.5.{pid}.stele-{kind}" for pid in (4194304999, os.getpid())]
    for other in others:
        other.mkdir()
    with atomic_directory(path, "job") as new:
        (new / "b").write_text("b")
    assert [p.name for p in listed(path)] == ["b"] and sorted(path.parent.iterdir()) == sorted([*others, path])


def test_a_swap_that_fails_half_way_leaves_the_old_folder(path, monkeypatch):
    rename, sources = os.rename, []

    def full(source, target):
        sources.append(source)
        if len(sources) == 2:
            raise OSError("no space left")
        rename(source, target)

    monkeypatch.setattr(os, "rename", full)
    with pytest.raises(OSError, match="no space"), atomic_directory(path, "job") as new:
        (new / "b").write_text("b")
    assert [p.name for p in listed(path)] == ["a"]
    assert [*path.parent.iterdir()] == [path]


def test_equal_values_are_equal_bytes(tmp_path):
    atomic_write_json(tmp_path / "a.json", {"x": 1, "y": [2, "ü"]})
    atomic_write_json(tmp_path / "b.json", {"y": [2, "ü"], "x": 1})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert digest({"x": 1, "y": 2}) == digest({"y": 2, "x": 1}) != digest({"x": 2, "y": 1})


def test_a_folders_digest_sees_names_and_bytes_but_not_its_record(tmp_path):
    (tmp_path / "a").write_text("1")
    before = files_digest(tmp_path)
    (tmp_path / "record.json").write_text("{}")
    assert files_digest(tmp_path) == before
    (tmp_path / "a").rename(tmp_path / "b")
    assert files_digest(tmp_path) != before


@pytest.mark.parametrize("name", ["a**b", "[a-z]*", "*"])
def test_a_name_is_no_pattern(tmp_path, name):
    """What a killed process left beside another file is not taken for this one's."""
    (other := tmp_path / ".a.b.999999999.stele-part").write_text("")
    with atomic_file(tmp_path / name) as handle:
        handle.write("x")
    assert (tmp_path / name).read_text() == "x" and other.exists()
