"""The literal command on a real SLURM cluster: from a clean clone, the bytes of the local profile."""

import ast
import csv
import os
import re
from pathlib import Path

import pytest

from tests.workflow.conftest import TABLE, copy_project, outputs, planned, shorten

NODES = {"mirror", "standin", "cc100", "mine", "pretrain", "finetune", "retrieve", "score"}


@pytest.mark.slow
def test_a_table_from_a_clean_clone_is_the_same_bytes_as_here(root, cluster, here, drive, tmp_path):
    project = shorten(copy_project(root, tmp_path / "stele"))
    driver = drive(project, "--", TABLE)
    assert driver.end() == 0, driver.output[-6000:]
    assert outputs(project) == outputs(here)
    ran = cluster.jobs(folder=project)
    assert {job["comment"].split("_wildcards_")[0] for job in ran} == {f"rule_{rule}" for rule in NODES}
    assert {job["state"] for job in ran} == {"COMPLETED"}
    assert "cluster cannot" not in driver.output
    assert_benchmarks_within_requests(project)
    # what the nodes built is up to date for a run here, too
    assert planned(project, TABLE) == {}


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


def assert_benchmarks_within_requests(project):
    """The benchmark file of each job on a node has what it took beside what it requested."""
    rules = set()
    for path in (project / "logs").rglob("*.benchmark.tsv"):
        with path.open() as handle:
            (row,) = csv.DictReader(handle, delimiter="\t")
        requested = ast.literal_eval(row["resources"])
        if row["rule_name"] in NODES:
            assert float(row["max_pss"]) < requested["mem_mb"] and float(row["s"]) < 60 * requested["runtime"]
            rules.add(row["rule_name"])
    assert rules == NODES - {"mirror"}


def without_commit(content):
    """A page names the commit of its source, which a copy without git does not know."""
    return re.sub(rb"<dt>commit</dt><dd>[^<]*</dd>", b"", content)
