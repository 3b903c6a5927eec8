"""The literal command on a real SLURM cluster: from a clean clone, the bytes of the local profile."""

import pytest

from tests.workflow.conftest import TABLE, copy_project, outputs, planned, shorten

NODES = {"mirror", "standin", "cc100", "mine", "pretrain", "finetune", "retrieve", "score"}


@pytest.mark.slow
def test_a_table_from_a_clean_clone_is_the_same_bytes_as_here(root, cluster, here, drive, tmp_path):
    project = shorten(copy_project(root, tmp_path / "stele"))
    driver = drive(project, "--", TABLE)
    assert driver.end() == 0, driver.said[-6000:]
    assert outputs(project) == outputs(here)
    ran = cluster.jobs(folder=project)
    assert {job["comment"].split("_wildcards_")[0] for job in ran} == {f"rule_{rule}" for rule in NODES}
    assert {job["state"] for job in ran} == {"COMPLETED"}
    assert "cluster cannot" not in driver.said
    # what the nodes built is up to date for a run here, too
    assert planned(project, TABLE) == {}
