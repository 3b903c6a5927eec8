"""The driver is killed, twice started, cut off from the controller; code changes while jobs wait."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from tests.cluster.conftest import wait_for
from tests.cluster.test_signals import ENCODER, log, slowly
from tests.workflow.conftest import environment, outputs, planned

DOCUMENTS = "work/tiny/documents/cc100/te/record.json"


def missing_documents(project):
    """One short job to do, which everything else is younger than."""
    shutil.rmtree(project / "work/tiny/documents/cc100/te")
    return project


@pytest.mark.slow
def test_a_new_driver_waits_for_the_jobs_of_a_killed_one_and_a_controller_may_go_away(cluster, here, built, drive):
    slowly(built)
    first = drive(built, "--", ENCODER)
    wait_for(lambda: "step" in log(built), what="the training")
    first.kill()
    second = drive(built, "--", ENCODER)
    wait_for(lambda: "of an earlier run, running" in second.said, what="the old job being found")
    cluster.stop_controller()
    time.sleep(30)
    cluster.start_controller()
    assert second.end() == 0, second.said[-6000:]
    assert [job["state"] for job in cluster.jobs(rule="pretrain", folder=built)] == ["COMPLETED"]
    assert "its locks are removed" in second.said and "submitted with" not in second.said
    assert outputs(built) == outputs(here)
    assert planned(built, ENCODER) == {}


@pytest.mark.slow
def test_a_job_that_ends_while_no_driver_is_there_is_recorded_with_what_it_was_made_of(cluster, built, drive):
    missing_documents(built)
    driver = drive(built, "--", DOCUMENTS)
    wait_for(lambda: cluster.jobs("--states=RUNNING", rule="cc100", folder=built))
    driver.kill()
    wait_for(lambda: cluster.jobs(rule="cc100", folder=built)[0]["state"] == "COMPLETED", what="the job alone")
    assert planned(built, DOCUMENTS) == {}
    with (built / "src/stele/corpora/cc100.py").open("a") as module:
        module.write("\nCHANGED = True\n")
    assert planned(built, DOCUMENTS) == {"cc100": 1}, "its params are known, so a change of its code is seen"


@pytest.mark.slow
def test_code_that_changes_while_jobs_wait_is_refused_and_a_new_driver_replaces_what_waits(cluster, built, drive, busy):
    missing_documents(built)
    module = built / "src/stele/corpora/cc100.py"
    release = busy()

    def waiting():
        return cluster.jobs("--states=PENDING", rule="cc100", folder=built)

    driver = drive(built, "--retries", "0", "--", DOCUMENTS)
    (job,) = wait_for(waiting)
    with module.open("a") as code:
        code.write("\nCHANGED = 1\n")
    driver.kill()
    # a new driver wants the job with the new code: the waiting one goes, another one is submitted
    driver = drive(built, "--retries", "0", "--", DOCUMENTS)
    wait_for(lambda: "out of date by now; it is cancelled" in driver.said)
    (other,) = wait_for(waiting)
    assert other["id"] != job["id"]
    with module.open("a") as code:
        code.write("\nCHANGED = 2\n")
    release()
    assert driver.end() == 1
    assert "changed after this job was submitted" in driver.said
    assert not (built / DOCUMENTS).exists() and "CHANGED" in module.read_text()


@pytest.mark.slow
def test_one_command_cancels_what_a_killed_driver_left(cluster, built, drive, busy):
    missing_documents(built)
    busy()
    driver = drive(built, "--", DOCUMENTS)
    (job,) = wait_for(lambda: cluster.jobs("--states=PENDING", rule="cc100", folder=built))
    driver.kill()
    settings = environment(**cluster.environment, PYTHONPATH=str(built / "src"))
    command = [sys.executable, "-m", "stele", "cluster", "cancel"]
    done = subprocess.run(command, cwd=built, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and f"cancelled {job['id']}: rule_cc100_wildcards_te, pending" in done.stdout
    assert cluster.jobs(rule="cc100", folder=built)[0]["state"] == "CANCELLED"
    again = subprocess.run(command, cwd=built, env=settings, capture_output=True, text=True, check=False)
    assert again.returncode == 0 and "no job of" in again.stdout


@pytest.mark.slow
def test_two_drivers_at_once_build_a_file_once(cluster, built, drive):
    missing_documents(built)
    drivers = [drive(built, "--", DOCUMENTS) for _ in range(2)]
    codes = [driver.end() for driver in drivers]
    assert len(cluster.jobs(rule="cc100", folder=built)) <= 1
    for code, driver in zip(codes, drivers, strict=True):
        assert code == 0 or "another run (process" in driver.said or "locked" in driver.said.lower(), driver.said
    assert 1 in codes or "Nothing to be done" in "".join(driver.said for driver in drivers)
    last = drive(built, "--", DOCUMENTS)
    assert last.end() == 0 and os.path.exists(built / DOCUMENTS), last.said
