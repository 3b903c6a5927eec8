"""Outputs appear whole or not at all."""

import pytest

from stele.outputs import atomic_directory, atomic_file, atomic_write_json, digest, files_digest


def test_a_failed_write_leaves_the_old_file_and_no_trace(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_file(path) as handle:
        handle.write("half")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_failed_folder_leaves_the_old_folder_and_no_trace(tmp_path):
    path = tmp_path / "folder"
    with atomic_directory(path) as new:
        (new / "a").write_text("old")
    with pytest.raises(RuntimeError), atomic_directory(path) as new:
        (new / "a").write_text("half")
        raise RuntimeError
    assert (path / "a").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_a_folder_is_replaced_whole(tmp_path):
    path = tmp_path / "folder"
    for name in ("a", "b"):
        with atomic_directory(path) as new:
            (new / name).write_text(name)
    assert [p.name for p in path.iterdir()] == ["b"]


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
