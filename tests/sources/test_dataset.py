"""`sources dataset` from mirrors and the network: order, checks, generated data, and what a killed run leaves."""

import bz2
import errno
import gzip
import hashlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from one_file import HOST, TEXT, Run, put, sha, source

from stele.artifacts.records import GENERATED
from stele.catalogue.datasets import mirror_path, resolve
from stele.command import cli
from stele.files.digests import files_digest
from tests.readers.files import tarred
from tests.sealed import write_sealed
from tests.waiting import wait_for


@pytest.fixture
def run(tmp_path, capsys):
    return Run(tmp_path, capsys)


@pytest.fixture
def mirror(tmp_path):
    put(tmp_path / "mirror", f"{HOST}/corpus.txt", TEXT)
    return tmp_path / "mirror"


def manifest_of(mirror: Path, licensed: dict | None = None, **counts) -> Path:
    """A manifest as the generator writes it: in {scale}/mirror, beside {scale}/user_data."""
    files = {
        "https://" + p.relative_to(mirror).as_posix(): {"sha256": sha(p.read_bytes()), "bytes": p.stat().st_size}
        for p in mirror.rglob("*")
        if p.is_file()
    }
    path = mirror / "manifest.json"
    record = {"files": files, "counts": {"set": counts}, "licensed": licensed or {}, "labels": [GENERATED]}
    return write_sealed(path, record)


# --- mirrors and the network ------------------------------------------------------------------------------------------
def test_a_folder_mirror_serves_a_file_and_the_record_says_what_it_is(run, mirror):
    assert run(source(file={"sha256": sha(TEXT)}), "--mirrors", str(mirror)) == 0
    assert (run.output.parent / "corpus.txt").read_bytes() == TEXT
    record = run.record
    assert record["origin"] == "real" and record["labels"] == [] and record["came_from"] == ["mirror"]
    assert record["files"]["corpus.txt"]["verified"] == "catalogue"
    assert record["files"]["corpus.txt"]["sha256"] == sha(TEXT)
    assert record["counts"] == {"lines": 1000} and record["licence"] == "CC0"
    assert not run.state.exists()


def test_mirrors_are_asked_in_order_and_before_the_network(run, mirror, site):
    empty = run.folder / "empty"
    empty.mkdir()
    site.files["/" + mirror_path(f"{HOST}/corpus.txt")] = TEXT
    assert run(source(file={"sha256": sha(TEXT)}), "--mirrors", str(empty), site.address, str(mirror)) == 0
    assert [request.path for request in site.requests] == ["/data.example.org/set/corpus.txt"]
    assert run.record["came_from"] == ["mirror"]


def test_a_mirror_with_a_damaged_copy_is_passed_over(run, mirror, site):
    put(bad := run.folder / "bad", f"{HOST}/corpus.txt", TEXT[:-1])
    assert run(source(file={"sha256": sha(TEXT)}), "--mirrors", str(bad), str(mirror)) == 0
    assert (run.output.parent / "corpus.txt").read_bytes() == TEXT


def test_on_a_full_disk_no_other_place_is_asked(run, mirror, site, monkeypatch):
    """The copy that does not fit is removed, and as much would be fetched until the disk is full again."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("stele.sources.download.places.shutil.copyfile", full)
    assert "the disk is full" in run.refused(source(), "--mirrors", str(mirror), site.address) and not site.requests


def test_the_network_is_asked_last_with_its_alternatives(run, site):
    site.files["/second/corpus.txt"] = TEXT
    file = {"url": f"{site.address}/first/corpus.txt", "alternatives": [f"{site.address}/second/corpus.txt"]}
    assert run(source(file=file)) == 0
    assert [request.path for request in site.requests] == ["/first/corpus.txt", "/second/corpus.txt"]
    assert run.record["came_from"] == ["network"]
    assert run.record["files"]["corpus.txt"]["url"] == file["alternatives"][0]


def test_offline_asks_nobody_and_says_the_ways_out(run, site):
    site.files["/corpus.txt"] = TEXT
    url = f"{site.address}/corpus.txt"
    message = run.refused(source(file={"url": url}), "--offline", "--mirrors", str(run.folder))
    assert site.requests == []
    ways = "set all corpus.txt", "offline", "mirrors:", "user_data: {set: FOLDER}"
    assert all(part in message for part in (url, *ways))
    assert not run.output.parent.exists()


def test_when_everything_fails_each_place_is_named(run, site):
    file = {"url": f"{site.address}/corpus.txt", "sha256": sha(TEXT)}
    site.files["/corpus.txt"] = TEXT[::-1]
    message = run.refused(source(file=file), "--mirrors", str(run.folder / "mirror"))
    assert "no such file" in message and sha(TEXT) in message and sha(TEXT[::-1]) in message
    assert not run.output.exists()


def test_optional_files_may_be_absent_but_not_unreachable(run, site, mirror):
    entry = source()
    entry["files"].append({"path": "index", "url": f"{site.address}/index", "optional": True})
    assert run(entry, "--mirrors", str(mirror)) == 0 and run.have() == ["corpus.txt", "record.json"]
    site.faults["/index"] = [{"status": 500}] * 9
    assert run(entry, "--mirrors", str(mirror)) == 1


def test_checksums_that_upstream_publishes_are_used(run, site):
    sums = {"algorithm": "sha1", "url": f"{site.address}/sums.txt"}
    site.files["/corpus.txt"] = TEXT
    site.files["/sums.txt"] = f"{hashlib.sha1(TEXT).hexdigest()}  corpus.txt\n{'0' * 40}  other.txt\n".encode()
    entry = source(file={"url": f"{site.address}/corpus.txt", "checksums": sums})
    assert run(entry) == 0 and run.record["files"]["corpus.txt"]["verified"] == "published list"
    site.files["/sums.txt"] = f"{'1' * 40}  corpus.txt\n".encode()
    assert "1" * 40 in run.refused(entry)
    site.files["/sums.txt"] = f"{'1' * 40}  another.txt\n".encode()
    assert "no checksum of corpus.txt" in run.refused(entry)


def test_a_file_without_a_checksum_is_pinned_on_its_first_download(run, site):
    site.files["/corpus.txt"] = TEXT
    entry = source(file={"url": f"{site.address}/corpus.txt"})
    assert run(entry) == 0 and run.record["files"]["corpus.txt"]["verified"] == "nothing"
    before = files_digest(run.output.parent)
    site.files["/corpus.txt"] = changed = TEXT.replace(b"7", b"8")
    message = run.refused(entry)
    assert sha(TEXT) in message and sha(changed) in message and "all.pins.json" in message
    assert files_digest(run.output.parent) == before  # what was there stays
    (run.output.parent.parent / "all.pins.json").unlink()
    assert run(entry) == 0 and (run.output.parent / "corpus.txt").read_bytes() == changed


def test_a_cut_file_that_nobody_vouches_for_is_fetched_again_and_not_pinned(run, site):
    entry = source(file={"url": f"{site.address}/corpus.txt"})
    site.files["/corpus.txt"] = TEXT[:100]
    assert "holds 14 lines, but the catalogue says 1,000" in run.refused(entry)
    site.files["/corpus.txt"] = TEXT
    assert run(entry) == 0 and (run.output.parent / "corpus.txt").read_bytes() == TEXT


def test_the_content_digest_is_of_the_bytes_and_not_of_where_they_came_from(run, mirror, site):
    assert run(source(), "--mirrors", str(mirror)) == 0
    first = run.record["content"]
    site.files["/" + mirror_path(f"{HOST}/corpus.txt")] = TEXT
    assert run(source(), "--mirrors", site.address) == 0
    assert run.record["content"] == first
    (users_folder := run.folder / "own").mkdir()
    (users_folder / "corpus.txt").write_bytes(TEXT)
    assert run(source(), "--user-data", str(users_folder)) == 0
    assert run.record["content"] == first
    assert str(run.folder) not in run.output.read_text()


# --- generated data ---------------------------------------------------------------------------------------------------
def test_generated_data_are_labelled_and_checked_by_their_manifest(run, mirror):
    entry = source(file={"sha256": "0" * 64, "bytes": 1})  # the catalogue's are of the real ones
    manifest = manifest_of(mirror, lines=1000)
    assert run(entry, "--mirrors", str(mirror), "--manifest", str(manifest)) == 0
    record = run.record
    assert record["origin"] == "generated" and record["labels"] == [GENERATED]
    assert record["files"]["corpus.txt"]["verified"] == "manifest"
    put(mirror, f"{HOST}/corpus.txt", TEXT + b"more\n")
    assert "damaged" in run.refused(entry, "--mirrors", str(mirror), "--manifest", str(manifest))


def test_a_generated_world_never_falls_back_on_real_data(run, mirror, site):
    site.files["/corpus.txt"] = TEXT
    entry = source(file={"url": f"{site.address}/corpus.txt"})
    message = run.refused(entry, "--mirrors", str(mirror), "--manifest", str(manifest_of(mirror)))
    assert "not among the generated data" in message and site.requests == []


def test_what_a_generated_mirror_has_lost_is_not_looked_for_elsewhere(run, mirror, site):
    site.files["/corpus.txt"] = TEXT
    url = f"{site.address}/corpus.txt"
    manifest = mirror / "manifest.json"
    write_sealed(manifest, {"files": {url: {"sha256": sha(TEXT), "bytes": len(TEXT)}}})
    message = run.refused(source(file={"url": url}), "--mirrors", str(mirror), "--manifest", str(manifest))
    assert "missing or damaged" in message and str(manifest) in message and site.requests == []


def test_generated_licensed_files_keep_their_label(run, mirror):
    folder = run.folder / "user_data" / "set"
    folder.mkdir(parents=True)
    (folder / "corpus.txt").write_bytes(TEXT)
    entry = {"sha256": sha(TEXT), "bytes": len(TEXT)}
    manifest = manifest_of(mirror, {"set": {"corpus.txt": entry}})
    flags = ("--user-data", str(folder), "--manifest", str(manifest))
    walled = source(wall="drive", how="ask", file={"url": None})
    del walled["files"][0]["url"]
    assert run(walled, *flags) == 0
    assert run.record["labels"] == [GENERATED] and run.record["files"]["corpus.txt"]["verified"] == "manifest"
    (folder / "corpus.txt").write_bytes(TEXT.replace(b"7", b"8"))  # damaged, and so not "real data"
    assert "corpus.txt" in run.refused(walled, *flags)
    real = run.folder / "mine"
    real.mkdir()
    (real / "corpus.txt").write_bytes(TEXT.replace(b"line", b"Line"))
    assert run(walled, "--user-data", str(real), "--manifest", str(manifest)) == 0
    assert run.record["labels"] == [] and run.record["origin"] == "real"


# --- a killed run -----------------------------------------------------------------------------------------------------
def test_a_killed_download_goes_on_where_it_was(run, site):
    """kill -9 half-way, the same command again: the file is whole and its first half is not fetched twice."""
    body = random.Random(5).randbytes(3 << 20)
    site.files["/big"] = body
    site.faults["/big"] = [{"stall": len(body) // 2}]
    entry = source(counts={}, file={"path": "big", "url": f"{site.address}/big", "sha256": sha(body)})
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2]), "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, "-m", "stele", *run.arguments(entry)]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)

    def half_way():
        assert process.poll() is None
        return any(part.stat().st_size > len(body) // 4 for part in run.state.glob("*.part"))

    wait_for(half_way)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (part,) = run.state.glob("*.part")
    have = part.stat().st_size
    assert len(body) // 4 < have < len(body)
    assert run(entry) == 0
    assert (run.output.parent / "big").read_bytes() == body
    assert [request.range for request in site.requests] == [None, f"bytes={have}-"]
    assert site.requests[1].sent == len(body) - have
    assert not run.state.exists()


@pytest.mark.parametrize("state", ["data", "data/set/state"])
def test_unfinished_downloads_are_not_kept_around_or_in_the_output(run, site, state):
    """At the end their folder is removed, with all that is in it."""
    run.state, run.output = run.folder / state, run.folder / "data/set/record.json"
    message = run.refused(source(file={"path": "a", "url": f"{site.address}/a"}))
    assert f"{state}: give a folder beside that of --output" in message and not site.requests


def test_a_file_that_the_hub_vouched_for_stays_so_when_the_run_is_resumed(run, site):
    site.files |= {"/a": b"a\n", "/b": b"b\n"}
    site.headers["/a"] = {"X-Linked-ETag": f'"{sha(site.files["/a"])}"'}
    entry = source(counts={}, files=[{"path": name, "url": f"{site.address}/{name}"} for name in "ab"])
    site.faults["/b"] = [{"status": 403}] * 2
    assert run(entry) == 1
    (finished,) = run.state.glob("*-a")
    finished.write_bytes(b"x\n")  # what it said is checked again, too
    assert run(entry) == 1 and len(site.of("/a")) == 2
    assert run(entry) == 0 and len(site.of("/a")) == 2 and run.have() == ["a", "b", "record.json"]
    assert {path: facts["verified"] for path, facts in run.record["files"].items()} == {"a": "hub", "b": "nothing"}


def test_without_an_entry_the_catalogues_is_taken(run, site):
    body = b"question\tanswer\n" * 3610
    site.files["/dl.fbaipublicfiles.com/dpr/data/retriever/nq-test.qa.csv"] = body
    flags = ["--part", "all", "--mirrors", site.address, "--offline", "--state", str(run.state)]
    assert cli.main(["sources", "dataset", "--dataset", "nq_test", *flags, "--output", str(run.output)]) == 0
    assert run.record["counts"] == {"test": 3610} and run.record["dataset"] == "nq_test"


def test_a_snapshot_of_tatoeba_is_known_by_its_digests(run, tmp_path):
    def archive(name: str, text: bytes) -> bytes:
        return bz2.compress(gzip.decompress(tarred({name: text})))

    entry, sentences = resolve("tatoeba_exports", "all"), b"1\tdeu\tEins zwei drei\n2\tell\tX y z\n"
    urls = {file.path.partition(".")[0]: file.url for file in entry.files}
    mirror = tmp_path / "mirror"
    put(mirror, urls["sentences"], packed := archive("sentences.csv", sentences))
    put(mirror, urls["links"], archive("links.csv", b"1\t2\n2\t1\n"))
    assert run(entry.given(), "--mirrors", str(mirror), "--offline") == 0
    assert run.have() == ["links.csv", "record.json", "sentences.csv"]
    facts = run.record["files"]["sentences.csv"]
    assert (facts["sha256"], facts["archive"]) == (sha(sentences), sha(packed))
    assert run.record["counts"] == {"sentences": 2, "links": 2}
