"""The short chain in conda environments and in a container, without a worker: the same bytes.

Snakemake's own code for both runs; conda and apptainer themselves are stand-ins (tests/workflow/borrowed.py), whose
environments hold what is declared.
"""

import os
import shutil

import pytest

from tests.workflow.borrowed import apptainer, calls, conda, environment
from tests.workflow.conftest import TABLE, clone, outputs, planned, shorten, snakemake

CONDA = ("--software-deployment-method", "conda")
CONTAINER = ("--software-deployment-method", "apptainer")


def path_with(folder) -> dict[str, str]:
    return {"PATH": os.pathsep.join([str(folder), os.environ["PATH"]])}


def same(project):
    """What must be the same: all but the pages that name the packages of each job, of which environments have fewer."""
    return {name: content for name, content in outputs(project).items() if not name.endswith(".html")}


@pytest.mark.slow
def test_in_conda_environments_the_tables_are_the_same_bytes(built, chain, root, tmp_path):
    for made in ("results", "work/tiny/finetuned"):
        shutil.rmtree(built / made)
    folder = tmp_path / "conda"
    run = snakemake(built, TABLE, *CONDA, **path_with(conda(folder, root)), PYTHONPATH="/nowhere/of/the/users")
    assert run.returncode == 0, run.stdout[-6000:]
    assert same(built) == same(chain)
    activated = (folder / "log").read_text().splitlines()
    assert len(set(activated)) == 2  # cpu and data
    assert not planned(built, TABLE)  # back in this Python, nothing is built again


@pytest.fixture(scope="session")
def image(root, tmp_path_factory):
    """A container image: all packages of the lock file that are installed here."""
    folder = tmp_path_factory.mktemp("image")
    lines = (root / "envs/cpu.lock.txt").read_text().splitlines()
    listed = [line for line in lines if not line.startswith("#")]
    environment(folder / "stele", listed, set(listed))
    (folder / "stele.sif").write_text(str(folder / "stele"))
    return folder / "stele.sif"


@pytest.fixture
def bare(fresh, tmp_path):
    """The short chain, nothing built."""
    return shorten(clone(fresh, tmp_path / "stele"))


@pytest.mark.slow
def test_built_from_nothing_in_a_container_the_tables_are_the_same_bytes(bare, chain, image, tmp_path):
    (bare / "cluster.yaml").write_text(f"software: container\ncontainer: {image}\n")
    elsewhere = tmp_path / "large"
    elsewhere.mkdir()
    (bare / "work").symlink_to(elsewhere)
    folder = tmp_path / "apptainer"
    run = snakemake(bare, TABLE, *CONTAINER, **path_with(apptainer(folder)), TMPDIR=str(tmp_path))
    assert run.returncode == 0, run.stdout[-6000:]
    assert outputs(bare) == outputs(chain)
    actual = calls(folder)
    assert all(
        str(image) in call["given"] and {str(elsewhere), str(tmp_path)} <= set(call["binds"].split(","))
        for call in actual
    )
    # what runs where the workflow was started runs in none
    commands = " ".join(call["given"][-1] for call in actual)
    assert "stele pretraining pretrain" in commands.replace(" --nodes 1 --gpus 0 --cpus 1", "")
    assert "stele tables table" not in commands and "stele sources dataset" not in commands
    assert not planned(bare, TABLE)
