"""Where jobs find their software: what cluster.yaml and the profile say of it, and what a job's shell is told."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from stele.catalogue.schema.models import ModelKeys
from stele.cluster import job_environment, settings
from stele.errors import SteleError
from tests.workflow.borrowed import apptainer, calls, conda, environment
from tests.workflow.conftest import copy_project, shorten, snakemake

TARGET = "work/paper/encoders/msm/pt0/record.json"


def read(folder, text):
    (folder / "cluster.yaml").write_text(text)
    return settings.read(folder / "cluster.yaml")


def test_the_image_is_beside_the_snakefile_unless_it_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROJECT", "/project")
    assert read(tmp_path, "software: container").image == tmp_path / "stele.sif"
    settings._read.cache_clear()
    assert str(read(tmp_path, "{software: container, container: $PROJECT/our.sif}").image) == "/project/our.sif"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("software: docker", "software: Input should be 'conda' or 'container' (found 'docker')"),
        ("container: our.sif", "container: names an image that is not used without `software: container`"),
        ("{software: container, nodes: {pretrain: 2}}", "nodes: pretrain: several nodes need srun"),
    ],
)
def test_software_settings_that_cannot_be_are_refused(tmp_path, text, message):
    with pytest.raises(SteleError) as error:
        read(tmp_path, text)
    assert f"cluster.yaml: {message}" in str(error.value)


def test_the_profile_asks_for_what_the_file_says(root, tmp_path):
    project = copy_project(root, tmp_path / "stele")
    arguments = ("--profile", "slurm", "-n", "--quiet", "rules", "--", TARGET)
    programs = [conda(tmp_path / "conda", root), apptainer(tmp_path / "apptainer")]
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    (project / "cluster.yaml").write_text("software: conda")
    run = snakemake(project, *arguments, PATH=path)
    assert run.returncode == 0 and "Conda environment envs/gpu.yaml will be created." in run.stdout, run.stdout
    (project / "cluster.yaml").write_text("software: container")
    run = snakemake(project, *arguments, PATH=path)
    assert f"{project}/stele.sif: no such container image" in run.stdout and run.returncode
    assert "apptainer build stele.sif envs/stele.def" in run.stdout
    (project / "stele.sif").touch()
    run = snakemake(project, *arguments, PATH=path)
    assert run.returncode == 0 and "Conda environment" not in run.stdout, run.stdout


def run_in_shell(lines):
    prefix = job_environment.as_prefix(lines).replace("{{", "{").replace("}}", "}")  # as Snakemake's format does
    command = ["bash", "-c", prefix + "echo $PYTHONPATH $PYTHONNOUSERSITE ${KIND:-}"]
    return subprocess.run(command, env={"PYTHONPATH": "/own"}, capture_output=True, text=True, check=True).stdout


def test_in_an_environment_a_command_finds_stele_and_nothing_of_the_users_own(tmp_path):
    assert run_in_shell(job_environment.shell_lines(tmp_path, {"conda"})) == f"{tmp_path}/src 1\n"
    assert run_in_shell(job_environment.shell_lines(tmp_path, set())) == "/own\n"


def test_lines_of_setup_may_have_braces():
    assert run_in_shell(["export KIND=${PYTHONPATH}"]) == "/own /own\n"


@pytest.mark.parametrize("line", ["true\nexport KIND=two\n", "export KIND=two  # of two", "export KIND=two;"])
def test_lines_of_setup_may_end_as_those_of_a_shell_script_do(line):
    """YAML's `- |` gives several lines as one text; after a comment the job's command would not run at all."""
    assert run_in_shell(["set -e", line]) == "/own two\n"


def test_modules_are_loaded_outside_of_a_container(monkeypatch):
    monkeypatch.delenv("KIND", raising=False)
    job_environment.take_environment(
        ["echo loading", "function module { export KIND=$2; }", "module load apptainer/1.4"]
    )
    assert os.environ["KIND"] == "apptainer/1.4"
    monkeypatch.delenv("KIND")
    with pytest.raises(SteleError, match="setup: failed with exit code 3"):
        job_environment.take_environment(["exit 3"])


def test_scratch_is_never_a_folder_of_the_run(tmp_path, monkeypatch):
    """A variable that a node lacks stays as it is written, and would name a folder here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", "before")
    monkeypatch.setattr(job_environment.tempfile, "tempdir", None)
    for folder in ("$NODES_DISK/me", "tmp"):
        with pytest.raises(SteleError, match="want a path that begins with /"):
            job_environment.use_scratch(folder)
    assert os.environ["TMPDIR"] == "before" and not [*tmp_path.iterdir()]
    job_environment.use_scratch("~/tmp")
    assert os.environ["TMPDIR"] == str(tmp_path / "home/tmp")


def test_a_container_sees_the_users_folders_and_where_links_lead(tmp_path, monkeypatch):
    here, *others = [tmp_path / name for name in ("here", "data", "checkpoint", "large", "disk", "given", "scratch")]
    for folder in (here, *others):
        folder.mkdir()
    data, checkpoint, large, disk, given, scratch = others
    (here / "work").symlink_to(large)
    (here / "resources").mkdir()
    (here / "resources/paper").symlink_to(disk)
    (here / "slurm").symlink_to("profiles")  # leads nowhere
    monkeypatch.chdir(here)
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setenv("PATH", str(apptainer(tmp_path / "apptainer")))
    monkeypatch.setenv("APPTAINER_BINDPATH", f"{given}:/given")
    configuration = SimpleNamespace(user_data={"nq": str(data), "lareqa": "/nowhere"}, results_dir="results")
    models = [ModelKeys(label="a", checkpoint=place) for place in (str(checkpoint), "train", None)]
    wanted = job_environment.outside_folders(configuration, models)
    for _ in range(2):  # once where the workflow was started, once more on the node
        job_environment.bind([here, *wanted])
    bound = os.environ["APPTAINER_BINDPATH"].split(",")
    assert bound[0] == f"{given}:/given"
    assert sorted(bound[1:]) == sorted(map(str, (data, checkpoint, large, disk, scratch)))
    (tmp_path / "a,b").mkdir()
    with pytest.raises(SteleError, match="a,b"):
        job_environment.bind([tmp_path / "a,b"])


MANIFEST = "resources/tiny/mirror/manifest.json"


@pytest.mark.parametrize("kind", ["conda", "container"])
def test_a_job_on_a_node_runs_in_what_is_declared(kind, cluster, drive, root, tmp_path):
    """Snakemake itself runs outside, on the node too; its command runs in the environment of its rule."""
    project = shorten(copy_project(root, tmp_path / "stele"))
    image = tmp_path / "our.sif"
    listed = yaml.safe_load((root / "envs/data.yaml").read_text())["dependencies"][-1]["pip"]
    environment(tmp_path / "inside", listed, set((root / "envs/cpu.lock.txt").read_text().split()))
    image.write_text(str(tmp_path / "inside"))
    programs = {"conda": conda(tmp_path / "conda", root), "container": apptainer(tmp_path / "apptainer")}
    chosen = [f"software: {kind}", *([f"container: {image}"] if kind == "container" else [])]
    (project / "cluster.yaml").write_text("\n".join([*chosen, "setup: ['export KIND=${SLURM_JOB_ID}']"]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cluster.environment, "PATH", f"{programs[kind]}:{cluster.environment['PATH']}")
        driver = drive(project, "--", MANIFEST)
        assert driver.end() == 0, driver.output
    (job,) = cluster.jobs(rule="mirror", folder=project)
    assert job["state"] == "COMPLETED"
    if kind == "conda":
        (prefix,) = set((tmp_path / "conda/log").read_text().split())
        assert Path(prefix).is_relative_to(project / ".snakemake/conda")
    else:
        (call,) = calls(tmp_path / "apptainer")
        assert "--nv" in call["given"] and "stele_world mirror" in call["given"][-1]
        assert call["kind"] == job["id"]  # of `setup`, which ran outside
