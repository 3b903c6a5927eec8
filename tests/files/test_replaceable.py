"""What replaces a folder proves first that nothing in it is anybody else's."""

import json
import os
import re
from pathlib import Path

import pytest

from stele.command import cli
from stele.command.groups import ALONE
from stele.errors import SteleError
from stele.files.atomic import MARK, atomic_directory, check_replaceable, claim, drop_claimed, entries

JOB = "pairs mine"


def made(folder, job=JOB, name="pairs.parquet"):
    with atomic_directory(folder, job) as new:
        (new / "inner").mkdir()
        (new / "inner" / name).write_text("x")
        (new / "record.json").write_text(json.dumps({"job": job}))
    return folder


def tree(folder):
    """Every path below a folder with its bytes or the place it links to."""
    contents = {}
    for path in folder.rglob("*"):
        contents[path] = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
    return contents


def users_files(folder):
    (folder / "chapters").mkdir(parents=True)
    (folder / "chapters/one.tex").write_text("years of work")
    return folder


def unfolded():
    """Commands as they are called, each with the option that names a record and the folders that it replaces."""
    commands = []
    for stage in cli.GROUPS:
        for command in cli.commands(stage):
            text = (cli.Path(cli.__file__).parents[1] / stage / f"{command}.py").read_text()
            call = [stage] if command in ALONE else [stage, command]
            if "record_of(JOB)" in text:
                commands.append((call, "thesis/record.json", "thesis"))
            if beside := re.search(r'record_beside\(JOB, (\["(\w+)"|\[VECTORS)', text):
                commands.append((call, "thesis/new.json", f"thesis/{beside[2] or 'vectors'}"))
    return commands


@pytest.mark.parametrize(
    ("call", "output", "folder"), unfolded(), ids=lambda value: "-".join(value) if isinstance(value, list) else ""
)
def test_every_command_refuses_a_folder_of_the_users_before_its_work(call, output, folder, tmp_path, capsys):
    users_files(tmp_path / folder)
    before = tree(tmp_path)
    assert cli.main([*call, "--output", str(tmp_path / output)]) == 1
    assert "one.tex" in (error := capsys.readouterr().err) and error.count("\n") == 1
    assert tree(tmp_path) == before


@pytest.mark.parametrize("call", ["pretraining pretrain", "retrieval calibrate", "sources dataset"])
@pytest.mark.parametrize("state", ["new", "new/state"])
def test_a_state_that_would_be_replaced_is_refused_before_the_work(call, state, tmp_path, capsys):
    """At the end the folder would hold it, and so not be replaced."""
    assert cli.main([*call.split(), "--state", f"{tmp_path}/{state}", "--output", f"{tmp_path}/new/record.json"]) == 1
    assert f"--state {tmp_path}/{state}: give a folder beside that of --output" in capsys.readouterr().err


def test_the_commands_are_found():
    calls = [" ".join(call) for call, *_ in unfolded()]
    assert {"pairs mine", "pairs tokenise", "pretraining pretrain", "retrieval retrieve", "sources dataset"} <= {*calls}
    assert len(calls) >= 27


@pytest.mark.parametrize("call", ["retrieval project", "scoring count_lengths", "tables card"])
def test_a_file_of_the_users_is_not_replaced_by_an_output_or_the_record_beside_it(call, tmp_path, capsys):
    name = "thesis.md" if "card" in call else "thesis.csv"
    for users, reason in (("thesis.json", "is not a record of Stele's"), (name, "is not an output of `")):
        (tmp_path / users).write_text('{"title": "Thesis"}')
        before = tree(tmp_path)
        assert cli.main([*call.split(), "--output", str(tmp_path / name)]) == 1
        err = capsys.readouterr().err
        assert f"{users}: " in err and reason in err and tree(tmp_path) == before
        (tmp_path / users).unlink()


FIGURES = [f"{call} thesis.{suffix}" for call in ("figure --output", "cells --map") for suffix in ("svg", "pdf", "png")]
FIGURES += ["all_tables_pdf --output thesis.pdf", *(f"adaptation_card --output thesis.{end}" for end in ("md", "html"))]
RECORDS = ["scoring average", "scoring count_dataset", "scoring count_parameters", "adapt verdict"]


@pytest.mark.parametrize(
    "call", [*(f"tables {call}" for call in FIGURES), *(f"{call} --output thesis.json" for call in RECORDS)]
)
def test_a_figure_or_a_record_of_the_users_is_not_replaced(call, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    users = Path(call.split()[-1])
    users.write_text('{"title": "Thesis"}')
    assert cli.main(call.split()) == 1
    err = capsys.readouterr().err
    assert f" {users}: " in err and "remove it first" in err and users.read_text() == '{"title": "Thesis"}'


TABLE_16 = f"--spec {Path(__file__).parents[2]}/paper_tables/msm/table_16.yaml --output-dir ."


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (f"all_tables {TABLE_16}", ["msm.html", *(f"all_tables.{suffix}" for suffix in ("md", "tex", "bib", "html"))]),
        (f"table {TABLE_16}", [f"msm/table_16.{suffix}" for suffix in ("md", "tex", "csv", "html", "json")]),
        ("schema --to .", ["schema.json"]),
    ],
    ids=lambda value: value if isinstance(value, list) else value.split()[0],
)
def test_a_file_of_the_users_stays_in_a_folder_that_a_command_writes_to_and_its_own_are_replaced(
    call, names, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    command = ["tables", *call.split()]
    for name in map(Path, names):
        name.parent.mkdir(exist_ok=True)
        name.write_text('{"title": "Thesis"}')
        before = tree(tmp_path)
        assert cli.main(command) == 1
        assert f" {name}: " in capsys.readouterr().err and tree(tmp_path) == before
        name.unlink()
    assert [cli.main(command), cli.main(command)] == [0, 0]


def test_a_folder_is_replaced_if_it_is_new_empty_or_of_the_same_job_alone(tmp_path):
    made(tmp_path / "new")
    (tmp_path / "empty").mkdir()
    made(tmp_path / "empty")
    made(tmp_path / "new", name="other.parquet")
    assert sorted(entries(tmp_path / "new")) == ["inner/other.parquet", "record.json"]
    with pytest.raises(SteleError, match="`pairs mine` made it, not `pretrain`"):
        made(tmp_path / "new", "pretrain")


@pytest.mark.parametrize(
    "add",
    [
        lambda folder: (folder / "notes.txt").write_text(""),
        lambda folder: (folder / ".hidden").write_text(""),
        lambda folder: (folder / "inner/deep").mkdir(),
        lambda folder: (folder / "inner/link").symlink_to(folder.parent),
        lambda folder: (folder / "gone").symlink_to("nowhere"),
        lambda folder: made(folder / "another"),
        lambda folder: os.mkfifo(folder / "pipe"),
    ],
    ids=["file", "hidden", "folder", "link", "dead link", "output", "pipe"],
)
def test_whatever_somebody_adds_to_an_output_stays(add, tmp_path):
    add(made(tmp_path / "out"))
    before = tree(tmp_path)
    with pytest.raises(SteleError, match=r"out: not replaced.*did not make"):
        made(tmp_path / "out")
    assert tree(tmp_path) == before


def test_what_is_added_during_the_work_stays(tmp_path):
    made(tmp_path / "out")
    with pytest.raises(SteleError, match=r"'late.txt'"), atomic_directory(tmp_path / "out", JOB) as new:
        (new / "a").write_text("")
        (tmp_path / "out/late.txt").write_text("late")
    assert (tmp_path / "out/late.txt").read_text() == "late" and (tmp_path / "out/inner/pairs.parquet").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_output_whose_record_snakemake_has_deleted_is_made_again(tmp_path):
    """It deletes declared outputs before a job and after a failed one, and leaves stamps of its own."""
    (made(tmp_path / "out") / "record.json").unlink()
    (tmp_path / "out/.snakemake_timestamp").write_text("")
    made(tmp_path / "out", name="again.parquet")
    assert sorted(entries(tmp_path / "out")) == ["inner/again.parquet", "record.json"]


def test_without_a_mark_the_record_says_what_there_is(tmp_path):
    out = made(tmp_path / "out")
    (out / MARK).unlink()
    with pytest.raises(SteleError, match=r"pairs.parquet"):
        check_replaceable(out, JOB)
    (out / "record.json").write_text(json.dumps({"job": JOB, "outputs": {"inner/pairs.parquet": {}}}))
    assert check_replaceable(out, JOB) == out
    with pytest.raises(SteleError, match="not `pretrain`"):
        check_replaceable(out, "pretrain")
    for text in ("{}", "[]", '{"job": 1, "outputs": 3}', "no json"):
        (out / "record.json").write_text(text)
        with pytest.raises(SteleError, match="did not make"):
            check_replaceable(out, JOB)


def test_a_link_to_a_folder_is_followed_and_stays(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to("disk")
    made(tmp_path / "out")
    assert os.readlink(tmp_path / "out") == "disk" and (tmp_path / "disk/inner/pairs.parquet").exists()
    users_files(tmp_path / "mine")
    (tmp_path / "alias").symlink_to("mine")
    for path in ("alias", "mine", "out/../mine", "mine/../alias"):
        with pytest.raises(SteleError, match=r"mine: not replaced.*one.tex"):
            made(tmp_path / path)
    (tmp_path / "dead").symlink_to("nowhere")
    with pytest.raises(SteleError, match="leads nowhere"):
        made(tmp_path / "dead")
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(SteleError, match="circle"):
        made(tmp_path / "circle")


def test_a_link_inside_is_removed_and_what_it_leads_to_stays(tmp_path):
    users_files(tmp_path / "mine")
    with atomic_directory(tmp_path / "out", JOB) as new:
        (new / "data").symlink_to(tmp_path / "mine")
        (new / "one.tex").symlink_to(tmp_path / "mine/chapters/one.tex")
    made(tmp_path / "out")
    assert (tmp_path / "mine/chapters/one.tex").read_text() == "years of work"


def test_a_file_in_the_way_the_working_folder_and_those_above_it_are_refused(tmp_path, monkeypatch, capsys):
    (tmp_path / "FILE").write_text("mine")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    before = tree(tmp_path)
    for output, said in (
        (tmp_path / "FILE/record.json", "FILE: a file"),
        (tmp_path / "FILE/a/b/record.json", "FILE: a file"),
        ("record.json", "command runs in"),
        ("../record.json", "command runs in"),
        ("/record.json", "command runs in"),
        ("../here/./record.json", "command runs in"),
        ("out", "record.json"),
        ("out/other.json", "record.json"),
    ):
        assert cli.main(["pairs", "mine", "--output", str(output)]) == 1
        error = capsys.readouterr().err
        assert said in error and "Traceback" not in error and error.count("\n") == 1
    assert tree(tmp_path) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_to_is_said_before_the_work(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    for path in ("closed/out", "closed/a/b"):
        with pytest.raises(SteleError, match="closed: nothing can be written"):
            check_replaceable(tmp_path / path, JOB)


def test_a_record_and_files_beside_it_are_replaced_only_as_the_same_jobs(tmp_path, capsys):
    call = ["reranking", "rerank", "--output"]
    (tmp_path / "a").mkdir()
    (tmp_path / "a/epochs.csv").write_text("mine")
    (tmp_path / "b.json").write_text('{"name": "package"}')
    (tmp_path / "c.json").write_text('{"job": "retrieve"}')
    (tmp_path / "d.json").mkdir()
    before = tree(tmp_path)
    for output, said in (
        ("a/new.json", "epochs.csv"),
        ("b.json", "not a record of Stele's"),
        ("c.json", "was made by `retrieve`"),
        ("d.json", "a folder"),
    ):
        assert cli.main([*call, str(tmp_path / output)]) == 1
        assert said in capsys.readouterr().err
    assert tree(tmp_path) == before
    made(tmp_path / "a/runs", "rerank")  # a killed job's: the record was not written yet
    assert cli.main([*call, str(tmp_path / "a/new.json")]) == cli.WRONG_USAGE  # the output is fine, others are missing


def test_a_folder_of_files_under_way_is_claimed_only_if_it_is_free(tmp_path):
    users_files(tmp_path / "mine")
    for known in (lambda name: None, re.compile("[0-9]+").fullmatch):
        with pytest.raises(SteleError, match=r"one.tex"):
            claim(tmp_path / "mine", "downloads", known)
    drop_claimed(tmp_path / "mine", "downloads")
    assert (tmp_path / "mine/chapters/one.tex").exists()
    (tmp_path / "old").mkdir()
    (tmp_path / "old/123").write_text("")
    for folder in (tmp_path / "new", tmp_path / "old"):
        claim(folder, "downloads", re.compile("[0-9]+").fullmatch)
        (folder / "more").write_text("")
        claim(folder, "downloads")
        with pytest.raises(SteleError, match="`another` did not make"):
            claim(folder, "another")
        drop_claimed(folder, "another")
        assert folder.exists()
        drop_claimed(folder, "downloads")
        assert not folder.exists()


def test_a_claimed_folder_is_claimed_again_wherever_a_kill_came(tmp_path, monkeypatch):
    """While the claim was written, or while the folder was removed."""
    (tmp_path / f".{MARK}.4194304999.stele-part").write_text("{")
    claim(tmp_path, "downloads")
    assert [path.name for path in tmp_path.iterdir()] == [MARK]
    for number in range(20):
        (tmp_path / str(number)).write_text("")
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings/config.json").write_text("")
    unlink, removed = os.unlink, []
    monkeypatch.setattr(os, "unlink", lambda path, **at: (removed.append(Path(path).name), unlink(path, **at)))
    drop_claimed(tmp_path, "downloads")
    assert removed[-1] == MARK and len(removed) == 22 and not tmp_path.exists()


# whatever removes or replaces more than one file, and why what it removes is ours
REMOVES = {
    "artifacts/state.py": "folders stele-DIGEST of --state",
    "cluster/check.py": "its own temporary folder",
    "snakemake_support/locks.py": "Snakemake's locks of a dead driver",
    "files/atomic.py": "what `check_replaceable` and `claim` allow, and temporary names",
    "new/new.py": "its own temporary folder",
    "pairs/knowledge_pairs.py": "inside the unfinished output",
    "pairs/mine.py": "inside the unfinished output",
    "reranking/folds/cross_validation.py": "inside the state of a run",
    "retrieval/bm25.py": "inside the state of a run",
    "retrieval/calibrate.py": "inside the state of a run",
    "retrieval/dense/collection.py": "inside the state of a run",
    "retrieval/lexical/anserini.py": "inside the state of a run",
    "stele_world/mirror.py": "unfinished runs, by their name",
}


def test_what_removes_folders_is_known(root):
    calls = re.compile(r"\brmtree\(|\bos\.rename\(|\bshutil\.move\(|\.removedirs\(|\.rename\(")
    paths = [path for path in (root / "src").rglob("*.py") if calls.search(path.read_text())]
    assert {path.relative_to(root / "src").as_posix().removeprefix("stele/") for path in paths} == {*REMOVES}
