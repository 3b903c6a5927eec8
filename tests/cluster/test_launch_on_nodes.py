"""The same rule on one node and on several, a process a GPU: real jobs, of which each process is one of gloo's."""

import os
import signal

import pytest

from tests.cluster.conftest import wait_for
from tests.cluster.edits import ENCODER, at_speed, log, saved, slowly
from tests.cluster.private import processes, settings
from tests.workflow.conftest import planned

NAMES = "partitions: {gpu: gpu}\ngigabytes: {gpu: 12}\n"


def record(project):
    return (project / ENCODER).read_text()


def rank(number, job):
    """The process of a job that has this number among those that share its work."""
    wanted = {f"SLURM_JOB_ID={job}".encode(), f"RANK={number}".encode()}
    (actual,) = [pid for pid in processes() if wanted <= settings(pid)]
    return actual


@pytest.mark.slow
def test_two_nodes_with_two_gpus_each_told_to_stop_and_killed(cluster, built, drive):
    (built / "cluster.yaml").write_text(f"{NAMES}gpus: {{pretrain: 2}}\nnodes: {{pretrain: 2}}\n")
    slowly(built)
    driver = drive(built, "--", ENCODER, STELE_DEVICE="cpu")

    def training():
        running = cluster.jobs("--states=RUNNING", rule="pretrain", folder=built)
        return running[0] if running and saved(built) else None

    first = wait_for(training, what="a saved step")
    assert first["partition"] == "gpu" and first["nodes"] == "n[1-2]" and "gpu:2" in first["gpus"]
    cluster.run("scancel", "--signal=USR1", first["id"])
    wait_for(lambda: "stele: error: pretrain msm: stopped by SIGUSR1" in log(built), what="the notice")
    second = wait_for(lambda: "resuming after step" in log(built) and training(), what="the second attempt")
    os.kill(rank(3, second["id"]), signal.SIGKILL)
    wait_for(lambda: "process 3 ended by SIGKILL" in log(built), what="the end of a process")
    at_speed(built)
    assert driver.end() == 0, driver.output[-6000:]
    jobs = cluster.jobs(rule="pretrain", folder=built)
    assert [job["state"] for job in jobs] == ["FAILED", "FAILED", "COMPLETED"]
    assert [job["memory"] for job in jobs] == ["6000M", "12000M", "12000M"]
    assert "resuming after step" in log(built) and '"processes": 4' in record(built)


@pytest.mark.slow
def test_one_node_with_two_gpus_and_how_it_was_run_reruns_nothing(cluster, built, drive):
    (built / "cluster.yaml").write_text(f"{NAMES}gpus: {{pretrain: 2}}\n")
    (built / ENCODER).unlink()
    driver = drive(built, "--", ENCODER, STELE_DEVICE="cpu")
    assert driver.end() == 0, driver.output[-6000:]
    (job,) = cluster.jobs(rule="pretrain", folder=built)
    assert (job["state"], job["partition"]) == ("COMPLETED", "gpu") and '"processes": 2' in record(built)
    (built / "cluster.yaml").write_text("gpus: {pretrain: 1}\nnodes: {pretrain: 3}\n")
    assert planned(built, ENCODER) == {}
