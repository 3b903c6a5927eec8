"""`make clean`: also what lies behind a link to a larger disk, and nothing else."""

import shutil
import subprocess


def test_clean_empties_folders_behind_links_and_leaves_the_rest(root, tmp_path):
    project, disk = tmp_path / "stele", tmp_path / "large disk"
    shutil.copytree(root / "results", project / "results", ignore=lambda folder, names: {*names} - {"README.md"})
    shutil.copy2(root / "Makefile", project)
    for folder in ("resources", "work"):
        (disk / folder).mkdir(parents=True)
        (project / folder).symlink_to(disk / folder)
    built = ("results/scale.txt", "results/a b/c.json", "work/tiny/record.json", "state/tiny/1", ".snakemake/log/x")
    for file in built:
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).touch()
    (disk / "others").touch()
    subprocess.run(["make", "clean"], cwd=project, check=True, capture_output=True)
    files = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert files == {"Makefile", "results/README.md"}
    assert not any((disk / "work").iterdir()) and (disk / "others").exists()
    # the next build goes to the larger disk again
    assert (project / "work").is_symlink()


def test_clean_removes_nothing_else_where_nothing_was_built(root, tmp_path):
    shutil.copy2(root / "Makefile", tmp_path)
    subprocess.run(["make", "clean"], cwd=tmp_path, check=False, capture_output=True)
    assert (tmp_path / "Makefile").exists()
