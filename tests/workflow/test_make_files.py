"""What make removes and replaces: what was built here alone, an archive only by a whole one; what `make real` says."""

import re
import shutil
import subprocess
import sys

from tests.workflow.conftest import copy_project, environment


def test_clean_removes_what_was_built_and_nothing_behind_a_link(root, tmp_path):
    """A team's downloads, or results on a larger disk that others read, stay; so does the link to them."""
    project, disk = tmp_path / "stele", tmp_path / "large disk"
    shutil.copytree(root / "results", project / "results", ignore=lambda folder, names: {*names} - {"README.md"})
    shutil.copy2(root / "Makefile", project)
    (disk / "resources").mkdir(parents=True)
    (disk / "resources/dump").touch()
    (project / "resources").symlink_to(disk / "resources")
    built = ("results/scale.txt", "results/a b/c.json", "work/tiny/record.json", "state/tiny/1", ".snakemake/log/x")
    for file in built:
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).touch()
    run = subprocess.run(["make", "clean"], cwd=project, check=True, capture_output=True, text=True)
    files = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert files == {"Makefile", "results/README.md"}
    assert (project / "resources/dump").exists()
    assert f"resources is a link to {disk / 'resources'}, which is left as it is" in run.stdout


def test_clean_removes_nothing_else_where_nothing_was_built(root, tmp_path):
    shutil.copy2(root / "Makefile", tmp_path)
    subprocess.run(["make", "clean"], cwd=tmp_path, check=False, capture_output=True)
    assert (tmp_path / "Makefile").exists()


def test_an_archive_that_tar_cannot_write_whole_does_not_replace_the_one_before(root, tmp_path):
    shutil.copy2(root / "Makefile", tmp_path)
    for file in ("envs/cpu.lock.txt", "pyproject.toml", "evidence/study.tar.gz", "evidence/.unpacked", ".venv/.done"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("as before")
    for command in ("snakemake", "stele"):
        (tmp_path / ".venv/bin").mkdir(exist_ok=True)
        (tmp_path / ".venv/bin" / command).symlink_to(shutil.which("true"))
    # evidence/study is not there
    run = subprocess.run(["make", "study"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode != 0
    assert (tmp_path / "evidence/study.tar.gz").read_text() == "as before"


def test_the_first_real_table_is_planned_without_a_network(root, tmp_path):
    """At most half an hour of two cores, as `make real` says before it downloads."""
    project = copy_project(root, tmp_path / "stele")
    recipe = subprocess.run(["make", "-n", "real"], cwd=root, capture_output=True, text=True, check=True).stdout
    planned = next(line for line in recipe.replace("\\\n", " ").splitlines() if " -n " in line)
    command = planned.replace(".venv/bin/snakemake", f"{sys.executable} -m snakemake --cores 2")
    run = subprocess.run(command, cwd=project, shell=True, env=environment(), capture_output=True, text=True)
    figures = re.fullmatch(r"Stele: about (\d+) min on 2 cores, .*, (\d+) MB of it downloaded .*\n", run.stdout)
    assert figures, run.stdout + run.stderr
    assert int(figures[1]) <= 30 and int(figures[2]) < 1000
    assert not any((project / folder).exists() for folder in ("results_real", "work", "resources"))
