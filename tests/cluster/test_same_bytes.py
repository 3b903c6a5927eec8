"""The literal command on a real SLURM cluster, at the miniature's size: the bytes of the local profile."""

import os
import re
from pathlib import Path

import pytest

from tests.workflow.conftest import copy_project, outputs


@pytest.mark.slow
def test_the_miniature_from_a_clean_clone_is_the_same_bytes_as_a_finished_local_build(root, cluster, drive, tmp_path):
    """99 jobs, 75 of them on nodes: up to half an hour on two cores, since each of those starts Snakemake twice."""
    if "STELE_CLUSTER_MINIATURE" not in os.environ:
        pytest.skip("set STELE_CLUSTER_MINIATURE to a clone in which `make tables` has been run (half an hour)")
    local = Path(os.environ["STELE_CLUSTER_MINIATURE"])
    project = copy_project(root, tmp_path / "stele")
    driver = drive(project, "--jobs", "3", "--config", "scale=miniature", "--", "results/tables/msm/table_03.md")
    assert driver.end() == 0, driver.output[-6000:]
    made = {name: without_commit(content) for name, content in outputs(project).items()}
    assert {name.rpartition(".")[2] for name in made if "table_03" in name} >= {"md", "tex", "csv", "html"}
    assert made == {name: without_commit((local / name).read_bytes()) for name in made}


def without_commit(content):
    """A page names the commit of its source, which a copy without git does not know."""
    return re.sub(rb"<dt>commit</dt><dd>[^<]*</dd>", b"", content)
