"""A wheel gives `stele` outside any clone, and a project in a new folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stele.command import cli
from stele.files.atomic import entries
from stele.files.paths import FILES
from tests.conftest import ROOT

RESULT = "results/tables/msm/table_16.md"


def test_a_project_is_laid_down_once_and_whole(tmp_path, capsys):
    folder = tmp_path / "below" / "mine"
    assert cli.main(["new", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == {*FILES, "slurm"} and (folder / "slurm").is_dir()
    assert (folder / "workflow/rules/tables.smk").read_bytes() == (ROOT / "workflow/rules/tables.smk").read_bytes()
    (folder / "notes.txt").write_text("mine")
    assert cli.main(["new", str(folder)]) == 1 and "is not empty" in capsys.readouterr().err
    assert (folder / "notes.txt").read_text() == "mine" and [*folder.parent.iterdir()] == [folder]


@pytest.mark.parametrize("name", [".", "../link"])
def test_an_empty_folder_is_filled_where_one_stands_in_it_and_behind_a_link(tmp_path, monkeypatch, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    monkeypatch.chdir(tmp_path / "empty")
    assert cli.main(["new", name]) == 0
    assert {path.name for path in Path().iterdir()} == {*FILES, "slurm"}


def test_a_project_of_a_read_only_installation_can_be_written(tmp_path, monkeypatch):
    installed, folder = tmp_path / "installed", tmp_path / "mine"
    for name in FILES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        (installed / name).parent.mkdir(exist_ok=True)
        copy(ROOT / name, installed / name)
    for path in installed.rglob("*"):
        path.chmod(path.stat().st_mode & ~0o222)
    monkeypatch.setattr("stele.new.new.project_folder", lambda: installed)
    assert cli.main(["new", str(folder)]) == 0
    assert all(path.stat().st_mode & 0o200 for path in folder.rglob("*"))
    assert {*entries(folder)} == {*entries(installed), "slurm"}
    for path in installed.rglob("*"):
        path.chmod(path.stat().st_mode | 0o200)  # so that pytest can remove it


@pytest.mark.slow
def test_a_wheel_plans_and_scores_outside_any_clone(tmp_path):
    # a wheel of the files that git would carry
    clone, site = tmp_path / "clone", tmp_path / "site"
    shutil.copytree(ROOT / "src", clone / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("setup.py", "pyproject.toml", "README.md", *FILES):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, clone / name)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, clone], check=True)
    (wheel,) = tmp_path.glob("stele-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", site, wheel], check=True)
    shutil.rmtree(clone)

    # a project of it, in which a table is planned
    def call(*words: str, where: Path = tmp_path) -> subprocess.CompletedProcess:
        environment = {**os.environ, "PYTHONPATH": str(site)}
        command = [sys.executable, "-m", *words]
        return subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)

    said = call("stele", "evaluate", "FOLDER")
    assert said.returncode == 1 and "stele new FOLDER" in said.stderr
    claims = call("stele", "claims", "check", "msm")
    assert claims.returncode == 0 and "msm: " in claims.stdout, claims.stderr
    assert call("stele", "new", "mine").returncode == 0
    plan = call("snakemake", "-n", RESULT, "--config", "scale=miniature", where=tmp_path / "mine")
    assert plan.returncode == 0 and "finetune" in plan.stdout and str(ROOT / "src") not in plan.stdout, plan.stderr

    # scores of two systems, and their difference
    (tmp_path / "a.csv").write_text("search,language,query,mrr@10\n" + "".join(f"run,all,q{n},0\n" for n in range(8)))
    (tmp_path / "b.csv").write_text("search,language,query,mrr@10\n" + "".join(f"run,all,q{n},1\n" for n in range(8)))
    compared = call("stele", "scoring", "compare", "--system", "a", "a.csv", "--system", "b", "b.csv")
    assert compared.returncode == 0 and "mrr@10" in compared.stdout, compared.stderr
