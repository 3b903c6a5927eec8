"""A user's own folder: what is found in it, whether it changed, and the real LAReQA and Tatoeba files."""

import json
import os
import time
from pathlib import Path

import pytest

from stele.benchmarks._files import below
from stele.catalogue import datasets, user_data
from stele.catalogue.schema.datasets import Part
from stele.command import cli
from stele.errors import SteleError
from stele.files import digests
from stele.files.digests import sha256


@pytest.fixture
def memory(tmp_path):
    return tmp_path / "state/user_files.json"


@pytest.fixture
def read(monkeypatch):
    """The names of the files that are read."""
    names = []
    monkeypatch.setattr(digests, "sha256", lambda path: names.append(path.name) or sha256(path))
    return names


def test_a_digest_sees_content_names_and_sizes_but_not_places(tmp_path, memory):
    for name in ("one", "two"):
        (tmp_path / name / "x").mkdir(parents=True)
        (tmp_path / name / "x" / "a.txt").write_text("text")
    first = user_data.content_digest(tmp_path / "one", memory)
    assert user_data.content_digest(tmp_path / "two", memory) == first
    (tmp_path / "two" / "x" / "a.txt").write_text("Text")
    assert user_data.content_digest(tmp_path / "two", memory) != first
    (tmp_path / "one" / "b.txt").write_text("more")
    assert user_data.content_digest(tmp_path / "one", memory) != first
    assert user_data.content_digest(tmp_path / "one", memory, ["x/a.txt"]) == first


def test_a_change_in_the_middle_of_a_large_file_is_seen_and_what_did_not_change_is_not_read(
    tmp_path, memory, read, monkeypatch
):
    monkeypatch.setattr(digests, "SETTLED", 0.05)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "large").write_bytes(bytes(65 << 20))
    for number in range(50):
        (folder / f"small{number}").write_text(str(number))
    time.sleep(0.1)
    before = user_data.content_digest(folder, memory)
    assert len(read) == 51
    read.clear()
    assert user_data.content_digest(folder, memory) == before and read == []
    times = (folder / "large").stat()
    with open(folder / "large", "r+b") as handle:
        handle.seek(30 << 20)
        handle.write(b"1")
    os.utime(folder / "large", ns=(times.st_atime_ns, times.st_mtime_ns))  # as rsync -t leaves it
    time.sleep(0.1)
    assert user_data.content_digest(folder, memory) != before and read == ["large"]
    memory.write_text('{"damaged')
    assert user_data.content_digest(folder, memory) != before


class Remounted:
    """Status of a file whose file system has another number, as on another host or where it is mounted after others."""

    st_dev = -1

    def __init__(self, status):
        self.status = status

    def __getattr__(self, name):
        return getattr(self.status, name)


@pytest.mark.parametrize("many", [0, 2000])
def test_a_file_of_the_future_is_read_once_on_whichever_host(tmp_path, memory, read, monkeypatch, many):
    monkeypatch.setattr(user_data, "MANY", many)
    monkeypatch.setattr(digests, "SETTLED", 0.05)
    monkeypatch.setattr(digests, "sha256", lambda path: read.append(path) or sha256(path))
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a").write_text("a")
    os.utime(tmp_path / "data/a", (2**32, 2**32))  # by a clock that is wrong
    time.sleep(0.1)
    before, status = user_data.content_digest(tmp_path / "data", memory), os.stat
    assert user_data.content_digest(tmp_path / "data", memory) == before and len(read) == 1
    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", lambda *given, **options: Remounted(status(*given, **options)))
        assert user_data.content_digest(tmp_path / "data", memory) == before and len(read) == 1


def test_a_file_that_was_written_just_now_is_not_remembered(tmp_path, memory, read):
    """A second change within the same tick of the file system's clock would bear the same time."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a").write_text("a")
    user_data.content_digest(tmp_path / "data", memory)
    user_data.content_digest(tmp_path / "data", memory)
    assert read == ["a", "a"] and not memory.exists()


@pytest.mark.parametrize("base", ["lareqa_xquad_r", "lareqa_xquad_r/xquad-r"])
def test_real_lareqa_verifies(real_data, tmp_path, base):
    record = _bring(tmp_path, datasets.resolve("lareqa", "all", ["en"]), real_data / base)
    assert record["origin"] == "real" and record["labels"] == []
    assert record["counts"]["questions"]["all"] == 13_090 and record["counts"]["candidates"]["all"] == 13_014
    assert all(facts["verified"] == "catalogue" for facts in record["files"].values()) and len(record["files"]) == 11


def test_real_tatoeba_verifies(real_data, tmp_path):
    record = _bring(tmp_path, datasets.resolve("tatoeba", "all"), real_data / "tatoeba_v1")
    assert record["counts"]["pairs"]["all"] == 88_877 and len(record["files"]) == 224
    assert record["counts"]["pairs"]["swh"] == 390


def test_real_punkt_and_xor_verify(real_data, tmp_path):
    record = _bring(tmp_path, datasets.resolve("nltk_punkt", "all"), real_data / "nltk_punkt_tab")
    assert record["counts"] == {"abbreviations": 156, "collocations": 37, "sentence_starters": 39}
    record = _bring(tmp_path / "xor", datasets.resolve("xor_tydi", "all"), real_data / "xor_tydi")
    assert record["counts"] == {"train": 15_250, "dev": 2_110}


def _bring(tmp_path: Path, source: Part, folder: Path) -> dict:
    where = ["--user-data", str(folder), "--state", str(tmp_path / "state")]
    where += ["--output", str(tmp_path / "out" / "all" / "record.json"), "--offline"]
    entry = ["--dataset", source.dataset, "--part", "all", "--source", json.dumps(source.given())]
    assert cli.main(["sources", "dataset", *entry, *where]) == 0
    return json.loads((tmp_path / "out" / "all" / "record.json").read_text())


@pytest.mark.parametrize("files", [user_data.listing, lambda folder: [*below(folder)]])
def test_a_folder_that_cannot_be_looked_into_is_an_error(tmp_path, monkeypatch, files):
    """But for that of a file system's own, which belongs to root."""
    for name in ("a", "lost+found"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "de.txt").write_text("Text")
    scan, closed = os.scandir, ["lost+found"]

    def scandir(folder):
        if Path(folder).name in closed:
            raise PermissionError(13, "Permission denied", str(folder))
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    assert [*map(str, files(tmp_path))] in (["a/de.txt"], [str(tmp_path / "a" / "de.txt")])
    closed.append("a")
    with pytest.raises(SteleError, match=r"a: cannot be looked into \(Permission denied\)"):
        files(tmp_path)


@pytest.mark.parametrize("many", [0, 2000])
def test_a_name_that_is_not_utf8_is_an_error(tmp_path, memory, monkeypatch, many):
    """As old archives leave them; no record could be written with it."""
    monkeypatch.setattr(user_data, "MANY", many)
    name = os.fsdecode(b"M\xfcller.txt")
    (folder := tmp_path / "data").mkdir()
    (folder / name).write_text("x")
    os.utime(folder / name, (1, 1))
    with pytest.raises(SteleError, match=r"M\\udcfcller\.txt': the name of a file is not UTF-8; rename it"):
        user_data.content_digest(folder, memory)


def test_many_files_are_remembered_together_and_each_change_is_seen(tmp_path, memory, read, monkeypatch):
    monkeypatch.setattr(digests, "SETTLED", 0.05)
    folder = tmp_path / "data"
    for number in range(30):
        (folder / str(number % 3)).mkdir(parents=True, exist_ok=True)
        (folder / str(number % 3) / f"{number}.txt").write_text(str(number))
    one_by_one = user_data.content_digest(folder, tmp_path / "other.json")
    monkeypatch.setattr(user_data, "MANY", 20)
    monkeypatch.setattr(digests, "sha256", lambda path: read.append(path) or sha256(path))
    read.clear()
    time.sleep(0.1)
    assert user_data.content_digest(folder, memory) == one_by_one  # the number of files changes no digest
    assert len(read) == 30 and len(json.loads(memory.read_text())) == 1
    read.clear()
    assert user_data.content_digest(folder, memory) == one_by_one and not read
    same = (folder / "1/1.txt").stat()
    (folder / "1/1.txt").write_text("x")
    os.utime(folder / "1/1.txt", ns=(same.st_atime_ns, same.st_mtime_ns))
    changed = user_data.content_digest(folder, memory)
    assert changed != one_by_one and len(read) == 30
    (folder / "1/1.txt").rename(folder / "1/one.txt")
    assert user_data.content_digest(folder, memory) not in (changed, one_by_one)
    (folder / "2/gone.txt").symlink_to("nowhere")
    with pytest.raises(SteleError, match=r"gone\.txt: cannot be read"):
        user_data.content_digest(folder, memory)
