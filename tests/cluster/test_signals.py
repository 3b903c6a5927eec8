"""A training that is told to stop saves its state, and what comes after it goes on from there: to the same bytes."""

import shutil

import pytest

from tests.cluster.conftest import change, wait_for
from tests.workflow.conftest import outputs, planned

ENCODER = "work/tiny/encoders/msm/pt0/record.json"
STEP = "after_step=module.after_step,"
SLOW = 'after_step=lambda place: (module.after_step(place), __import__("time").sleep(0.5)),'


def slowly(project):
    """60 steps that take at least 30 seconds, and no encoder yet; nothing before it is out of date."""
    change(project / "src/stele/pretraining/pretrain.py", STEP, SLOW)
    shutil.rmtree(project / "work/tiny/encoders")
    (project / "logs/tiny/pretrain/msm.pt0.log").unlink()


def log(project):
    path = project / "logs/tiny/pretrain/msm.pt0.log"
    return path.read_text() if path.exists() else ""


@pytest.mark.slow
def test_a_notice_a_preemption_and_a_kill_lose_nothing(cluster, here, built, drive):
    """SIGUSR1 (a notice before the limit), SIGTERM and requeue (preemption), SIGKILL: one after the other."""
    slowly(built)
    driver = drive(built, "--", ENCODER)
    state = built / "state/tiny/pretrain"

    def running():
        return [job for job in cluster.jobs("--states=RUNNING", rule="pretrain", folder=built)]

    def training():
        return running() and any(state.rglob("training.pt")) and "step" in log(built)

    wait_for(training, what="a saved step")
    cluster.run("scancel", "--signal=USR1", running()[0]["id"])
    wait_for(lambda: "stopped by SIGUSR1" in log(built), what="the state saved at the notice")
    wait_for(lambda: "going on after step" in log(built), what="the second attempt")
    (first, second) = cluster.jobs(rule="pretrain", folder=built)
    assert first["state"] == "FAILED" and second["memory"] == "8000M"
    # a more urgent job takes both nodes: the training is told to end, and is put back into the queue
    urgent = [
        cluster.run("sbatch", "--parsable", "-p", "urgent", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 900")
        for _ in range(2)
    ]
    wait_for(lambda: "stopped by SIGTERM" in log(built), what="the state saved at the preemption")
    wait_for(lambda: cluster.jobs("--states=PENDING", rule="pretrain", folder=built), what="the queue")
    cluster.run("scancel", *(id.strip() for id in urgent))
    cluster.run("scontrol", "update", f"JobId={second['id']}", "StartTime=now")  # SLURM would wait for two minutes
    wait_for(
        lambda: running() and "stopped" not in log(built) and "going on after step" in log(built), what="its return"
    )
    cluster.run("scancel", "--signal=KILL", running()[0]["id"])
    assert driver.end() == 0, driver.said[-6000:]
    assert "going on after step" in log(built)
    assert [job["state"] for job in cluster.jobs(rule="pretrain", folder=built)] == ["FAILED", "CANCELLED", "COMPLETED"]
    assert outputs(built) == outputs(here)
    assert planned(built, ENCODER) == {} and not any(path.is_file() for path in state.rglob("*"))
