"""Names from outside become paths inside their folder, or an error; results get a folder of their own."""

import os
import re
from pathlib import Path

import pytest

from stele.config.model import parse_config
from stele.errors import SteleError
from stele.files.paths import PROJECT, STAMP, inside, relative, results_problem

HOSTILE = ["..", "a/../../x", "a/..", "/x", "//x", "/", "", ".", "./", "a\\b", "C:x", "c:/x", "a?b", "a#b", "%2e%2e/x"]
HOSTILE += ["a\0", "a\nb", "a\x1b[2J", "a\ud800", None, ["x"]]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path, name):
    for call in (lambda: relative(name, "index.json"), lambda: inside(tmp_path, name, "index.json")):
        with pytest.raises(SteleError, match=rf"^index\.json: .*{re.escape(repr(name))}"):
            call()


@pytest.mark.parametrize("name", ["a", "a/b.json", "./a//b", "..a/b..", "a b", "ключ/文.txt", "ab:c", "-rf", "@x=1,+2"])
def test_plain_names_stay_what_they_are(tmp_path, name):
    assert inside(tmp_path, name, "here") == tmp_path / name
    assert relative(name, "here") == Path(name).as_posix()


def test_a_link_that_leads_out_is_not_followed(tmp_path):
    (tmp_path / "outside").mkdir()
    (folder := tmp_path / "folder").mkdir()
    (folder / "link").symlink_to("../outside")
    (folder / "file").symlink_to("../outside/new")
    (folder / "own").symlink_to("sub")
    for name in ("link", "link/x", "link/sub/x", "file"):
        with pytest.raises(SteleError, match=re.escape(f"{name!r} leads out of {folder} through a link")):
            inside(folder, name, "here")
    assert inside(folder, "own/x", "here") == folder / "own/x"  # a link inside may stay one


# --- the folder of results --------------------------------------------------------------------------------------------
@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder that stands for the project, in which a run was started."""
    (root := tmp_path / "project").mkdir()
    for name in ("src", "work/miniature", ".git", "results", "elsewhere"):
        (root / name).mkdir(parents=True)
    for name in ("work/miniature", "results"):
        (root / name / STAMP).write_text("miniature\n")
    (root / "README.md").write_text("")
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("/", "the project lies in it"),
        ("..", "the project lies in it"),
        ("results/..", "found 'results/..'"),
        (".git/hooks", ".git/ is the project's"),
        (".snakemake", ".snakemake/ is the project's"),
        ("src", "src/ is the project's"),
        ("work/miniature", "work/ is the project's"),
        ("out/../state", "state/ is the project's"),
        ("./-rf", "a command would take it for an option"),
        ("../results", "it leads out of the project; if that is meant, write "),
        ("linked", f"it holds other files (and no {STAMP}, as"),
        ("my_examples", "it holds other files"),
        ("my_texts", "it holds other files"),
        ("nowhere", "it is a link that leads nowhere"),
        ("linked_src", "src/ is the project's"),
        ("results/mrtydi", "holds results of its own"),
        ("README.md", "it is a file"),
        ("circle", "it cannot be looked into"),
    ],
)
def test_results_get_no_folder_of_anything_else(project, tmp_path, folder, reason):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.tex").write_text("")
    (project / "linked").symlink_to(tmp_path / "foreign")
    (project / "nowhere").symlink_to(tmp_path / "none")
    (project / "linked_src").symlink_to("src")
    (project / "circle").symlink_to("circle")
    (project / "my_examples").mkdir()
    (project / "my_examples" / "train.jsonl").write_text("{}")
    (project / "my_texts" / "sw").mkdir(parents=True)
    with pytest.raises(SteleError, match=r"results_dir: found .*want a folder of its own") as caught:
        parse_config({"results_dir": folder})
    assert reason in str(caught.value)


def test_results_get_a_folder_of_their_own(project, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / STAMP).write_text("paper\n")
    elsewhere = [str(tmp_path / name) for name in ("empty", "theirs", "new/deep")]
    (project / "large_disk").symlink_to(tmp_path / "empty")
    for folder in ("results", "large_disk", "elsewhere", "out/mine", str(project / "results"), *elsewhere):
        assert parse_config({"results_dir": folder}).results_dir == folder
    (project / "elsewhere" / "by_hand.json").write_text("{}")  # what one command wrote is no reason
    (project / "elsewhere/mrtydi/msm").mkdir(parents=True)
    (project / "elsewhere/tables").mkdir()
    assert parse_config({"results_dir": "elsewhere"}).results_dir == "elsewhere"


def test_a_folder_named_from_the_root_that_holds_other_files_is_refused(project, tmp_path):
    (tmp_path / "home/thesis").mkdir(parents=True)
    with pytest.raises(SteleError, match="it holds other files"):
        parse_config({"results_dir": str(tmp_path / "home")})


def test_the_project_s_folders_are_all_that_it_has(root):
    """A folder that is new in the project, or that it builds, has to be added."""
    ignored = {line.strip().strip("/") for line in (root / ".gitignore").read_text().splitlines()}
    have = {path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "results"))}
    built = re.search(r"for folder in ([\w ]+)", (root / "Makefile").read_text())[1].split()
    assert have - ignored - {"shared", "build"} <= PROJECT
    assert {*built} - {"results"} <= PROJECT and results_problem("results", root) is None
    assert all(os.path.isdir(root / name) or name in ignored for name in PROJECT)
