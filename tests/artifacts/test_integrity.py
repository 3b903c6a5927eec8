"""What a job reads is checked against its record: small files whole, large ones in parts, and everything on demand."""

import json
import os
import random

import pytest

from stele.artifacts import integrity, records
from stele.artifacts.integrity import check_inputs, damages, sampled
from stele.command import cli
from stele.errors import Damaged, SteleError
from stele.files import digests
from stele.files.digests import files_digest, folder_facts

COUNT = ["scoring", "count_parameters", "--model", "msm", "--seeds", "pt0-ft0"]
SIZE = 100_001  # no multiple of the number of blocks


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The record of a folder with a small file and a large one."""
    for module in (digests, integrity):
        monkeypatch.setattr(module, "WHOLE", 1000)
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "small").write_bytes(random.Random(0).randbytes(900))
    (folder / "large").write_bytes(random.Random(1).randbytes(SIZE))
    return write(folder / "record.json", outputs=folder_facts(folder))


def write(path, **facts):
    records.write_record(path, job="test", inputs={}, **facts)
    return path


def change(path, position, keep_times=True):
    times = path.stat()
    with open(path, "r+b") as handle:
        handle.seek(position)
        byte = handle.read(1)[0]
        handle.seek(position)
        handle.write(bytes([byte ^ 1]))
    if keep_times:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_a_whole_output_has_no_damage(made):
    assert not list(damages(made, whole=True)) and not list(damages(made, whole=False))
    record = json.loads(made.read_text())
    assert record["content"] == files_digest(made.parent), "as before the files were named one by one"
    assert "blocks" not in record["outputs"]["small"] and len(record["outputs"]["large"]["blocks"]) == 256


def test_the_values_of_a_result_are_those_of_its_digest(tmp_path):
    metrics = {"mrr@100": {"languages": {"sw": 0.5}}}
    assert not damages(write(tmp_path / "direct.json", content=digests.digest(metrics), metrics=metrics))
    (damage,) = damages(write(tmp_path / "direct.json", content="another", metrics=metrics))
    assert "its values are not those that were scored" in damage.problem


def test_a_changed_record_of_whole_files_is_damaged_itself(made):
    made.write_text(made.read_text().replace('"labels": []', '"labels": ["limited"]'))
    (damage,) = damages(made)
    assert damage.path == made and "its digest does not match" in damage.problem


@pytest.mark.parametrize("position", [0, 450, 899])
def test_every_bit_of_a_small_file_counts(made, position):
    change(made.parent / "small", position)
    (damage,) = damages(made, whole=False)
    assert (
        damage.path == made.parent / "small" and "its bytes differ" in str(damage) and "made by `test`" in str(damage)
    )


def test_a_job_notices_a_changed_bit_of_a_large_file_with_the_chance_that_is_stated(made):
    change(made.parent / "large", 50_000)
    assert len(list(damages(made, whole=True))) == 1
    noticed = sum(bool(list(damages(made, whole=False, key=f"job {n}"))) for n in range(4000)) / 4000
    assert noticed == pytest.approx(6 / 254, abs=0.007), "six of the 254 parts between both ends"
    assert sampled("one job") == sampled("one job") != sampled("another")


@pytest.mark.parametrize("position", [0, SIZE - 1])
def test_the_ends_of_a_large_file_are_always_looked_at(made, position):
    change(made.parent / "large", position)
    assert all(list(damages(made, whole=False, key=str(n))) for n in range(20))


def test_a_large_file_that_was_written_after_its_record_is_read_whole(made):
    change(made.parent / "large", 50_000, keep_times=False)
    os.utime(made, ns=(0, (made.parent / "large").stat().st_mtime_ns - 1))
    assert all(list(damages(made, whole=False, key=str(n))) for n in range(20))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda path: os.truncate(path, SIZE - 7), "has 99,994 bytes, but 100,001 were written"),
        (os.unlink, "the file is missing"),
        (lambda path: (path.unlink(), path.symlink_to("nowhere")), "a link that leads nowhere"),
        (lambda path: (path.unlink(), path.mkdir()), "bytes, but 100,001 were written"),
    ],
)
def test_a_large_file_of_another_size_or_none_is_always_noticed(made, harm, message):
    harm(made.parent / "large")
    (damage,) = damages(made, whole=False)
    assert message in damage.problem


@pytest.mark.parametrize("form", ["path", "assignment", "folder", "list", "nested list"])
def test_a_record_is_found_in_whatever_form_a_command_takes_it(made, form):
    (made.parent / "small").write_text("")
    given = {
        "path": made,
        "assignment": f"msm:en={made}",
        "folder": made.parent,
        "list": ["text", made],
        "nested list": [["name", str(made)]],
    }[form]
    message = r"small: has 0 bytes, but 900 were written.*\n.*`snakemake --force .*record\.json`"
    with pytest.raises(Damaged, match=message):
        check_inputs({"given": given, "recipe": '{"a": "b.json"}', "limit": None})


def test_an_output_of_a_command_is_not_checked_as_its_input(made):
    (made.parent / "small").write_text("")
    check_inputs({"output": made, "state": made.parent, "results_dir": made.parent})


def test_all_is_read_where_that_is_asked_for(made, monkeypatch):
    change(made.parent / "large", 50_000)
    key = next(str(n) for n in range(99) if not list(damages(made, whole=False, key=str(n))))
    check_inputs({"output": key, "base": made})
    monkeypatch.setenv(integrity.VERIFY_WHOLE, "1")
    with pytest.raises(Damaged, match="large: its bytes differ"):
        check_inputs({"output": key, "base": made})


def test_a_file_of_the_users_own_is_no_record(tmp_path):
    for name, text in (("run.json", '{"q": {"d": 1.0}}'), ("list.json", "[1]"), ("no.json", '{"job'), ("e.json", "")):
        (tmp_path / name).write_text(text)
        assert not list(damages(tmp_path / name))


def test_a_record_without_files_has_a_content_of_its_own(tmp_path):
    path = write(tmp_path / "record.json", content=[{"en": {"found": 3}}])
    assert not list(damages(path, whole=True)) and not list(damages(path, whole=False))


def test_a_snapshot_is_made_again_with_its_encoder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snapshot = tmp_path / "work/encoders/msm/pt0/snapshots/step-5/record.json"
    assert "`snakemake --force work/encoders/msm/pt0/record.json`" in integrity.rebuild([snapshot])


def test_a_command_does_not_start_on_what_is_damaged(made, tmp_path, capsys):
    """Checked where commands are called, not in any of them."""
    (made.parent / "small").unlink()
    out = tmp_path / "out.json"
    assert cli.main([*COUNT, "--encoder", str(made), "--output", str(out)]) == 1
    assert "small: the file is missing" in capsys.readouterr().err and not out.exists()


@pytest.mark.parametrize("option", ["encoder", "base", "tokenizer"])
def test_what_a_user_says_of_a_dataset_is_no_checkpoint(option, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"job": "sources dataset", "labels": []}))
    check_inputs({"data": f"msm:en={path}"})
    with pytest.raises(SteleError, match=f"--{option} .*record.json: has no digest, so it describes a dataset"):
        check_inputs({option: path})


def test_the_processes_of_one_command_check_once(made, monkeypatch):
    called = []
    monkeypatch.setattr(cli, "check_inputs", called.append)
    for rank, times in ((None, 1), ("0", 0), ("3", 0)):
        called.clear()
        monkeypatch.delenv("RANK", raising=False)
        if rank:
            monkeypatch.setenv("RANK", rank)
        cli.main([*COUNT, "--encoder", str(made), "--output", str(made.with_name("out.json"))])
        assert len(called) == times
