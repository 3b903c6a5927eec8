"""The driver is started twice, killed, cut off from the controller; code changes while jobs wait in the queue."""

import re
import shutil
import subprocess
import sys
import time

import pytest

from tests.cluster.conftest import wait_for
from tests.cluster.edits import ENCODER, at_speed, saved, slowly
from tests.workflow.conftest import environment, outputs, planned, snakemake

DOCUMENTS = "work/tiny/documents/cc100/te/record.json"


@pytest.mark.slow
def test_two_drivers_one_killed_and_a_controller_that_is_away_make_each_file_once(cluster, here, built, drive):
    slowly(built)
    drivers = [drive(built, "--", ENCODER) for _ in range(2)]

    def ended():
        return [driver for driver in drivers if driver.process.poll() is not None]

    for driver in wait_for(ended, what="the refusal of one"):
        assert driver.end() == 1
        assert "another run (process" in driver.output or "locked" in driver.output.lower(), driver.output
    if len(ended()) == 2:  # each has seen the other one
        drivers.append(drive(built, "--", ENCODER))
    wait_for(lambda: saved(built), what="the training")
    for driver in drivers:
        driver.kill()
    last = drive(built, "--", ENCODER)
    wait_for(lambda: "of an earlier run, running" in last.output, what="the old job being found")
    cluster.stop_controller()
    at_speed(built)  # the training ends while nobody can be told
    wait_for((built / ENCODER).exists, what="the encoder")
    time.sleep(15)  # and the driver asks in vain
    cluster.start_controller()
    assert last.end() == 0, last.output[-6000:]
    assert "its locks are removed" in last.output
    assert [job["state"] for job in cluster.jobs(rule="pretrain", folder=built)] == ["COMPLETED"]
    assert outputs(built) == outputs(here)
    assert planned(built, ENCODER) == {}


@pytest.mark.slow
def test_jobs_that_nobody_waits_for_are_cancelled_replaced_refused_or_recorded(cluster, built, drive, busy):
    texts = (built / DOCUMENTS).with_name("shard-00000.parquet")
    before = texts.read_bytes()
    shutil.rmtree(texts.parent)
    module = built / "src/stele/corpora/cc100.py"
    release = busy()

    def waiting():
        return cluster.jobs("--states=PENDING", rule="cc100", folder=built)

    def edit(number):
        with module.open("a") as code:
            code.write(f"\nCHANGED = {number}\n")

    # one command cancels what a killed driver left
    first = drive(built, "--", DOCUMENTS)
    (job,) = wait_for(waiting)
    first.kill()
    command = [sys.executable, "-m", "stele", "cluster", "cancel"]
    settings = environment(**cluster.environment, PYTHONPATH=str(built / "src"))
    output = [subprocess.run(command, cwd=built, env=settings, capture_output=True, text=True) for _ in range(2)]
    assert [done.returncode for done in output] == [0, 0]
    assert re.search(rf"cancelled {job['id']}: rule_cc100_wildcards_te,\w+, pending", output[0].stdout)
    assert "no job of" in output[1].stdout
    # a new driver wants the job with the new code: the waiting one goes, another one is submitted
    second = drive(built, "--", DOCUMENTS)
    (job,) = wait_for(waiting)
    edit(1)
    second.kill()
    third = drive(built, "--retries", "0", "--", DOCUMENTS)
    wait_for(lambda: "is out of date; it is cancelled" in third.output)
    wait_for(lambda: [other for other in waiting() if other["id"] != job["id"]], what="the new job")
    # code that changes while the job waits: the job refuses, and nothing else is lost
    edit(2)
    release()
    assert third.end() == 1 and "changed after this job was submitted" in third.output
    assert not (built / DOCUMENTS).exists()
    # a job that ends while no driver is there is recorded with what it was made of
    fourth = drive(built, "--", DOCUMENTS)
    wait_for(lambda: cluster.jobs("--states=RUNNING", rule="cc100", folder=built))
    fourth.kill()
    wait_for(lambda: cluster.jobs(rule="cc100", folder=built)[-1]["state"] == "COMPLETED", what="the job alone")
    assert planned(built, DOCUMENTS) == {}
    edit(3)
    assert planned(built, DOCUMENTS) == {"cc100": 1}, "its params are known, so a change of its code is seen"
    done = snakemake(built, DOCUMENTS)
    assert done.returncode == 0, done.stdout[-6000:]
    assert texts.read_bytes() == before
