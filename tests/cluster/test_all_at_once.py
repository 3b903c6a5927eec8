"""What clusters do to jobs, all of it to the jobs of one run, which ends with the bytes of an undisturbed one."""

import ast
import csv
from datetime import datetime

import pytest

from stele.cluster.sinfo import minutes
from tests.cluster.conftest import wait_for
from tests.cluster.edits import at_speed, before, log, log_file, saved, slowly
from tests.workflow.conftest import TABLE, outputs, planned

NODES = {"cc100", "mine", "pretrain", "finetune", "retrieve", "score"}

# the first try of each language waits for its fate; `en` holds more memory than its first attempt asks for
DOCUMENTS = """\
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
first = not os.path.exists(f"tried-{args.language}")
open(f"tried-{args.language}", "w").close()
held = b"-" * (1000 << 20) if args.language == "en" else b""
time.sleep(3600 if first else 3)
"""
PAIRS = """\
import contextlib
with contextlib.suppress(FileExistsError):
    open("failed", "x").close()
    raise ValueError("this one fails")
"""


class Run:
    """A run and its jobs."""

    def __init__(self, cluster, project, driver):
        self.cluster, self.project, self.driver = cluster, project, driver

    def jobs(self, rule, *options):
        return self.cluster.jobs(*options, rule=rule, folder=self.project)

    def documents(self, part):
        return [job for job in self.jobs("cc100") if f"_{part}," in job["comment"]]

    def training(self):
        """The training's job, once it runs and has saved a state."""
        running = self.jobs("pretrain", "--states=RUNNING")
        return running[0] if running and saved(self.project) else None

    def goes_on(self, job, what):
        """The training's job, once it has gone on from its state after what happened to `job`."""

        def again():
            now = self.training()
            started = now and now["start"] != job["start"] and datetime.fromisoformat(now["start"]).timestamp()
            fresh = started and log_file(self.project).stat().st_mtime >= started
            return now if fresh and "resuming after step" in log(self.project) else None

        return wait_for(again, what=f"the training after {what}")

    def at_once(self, job):
        """SLURM would wait for two minutes before it starts a job again."""
        wait_for(lambda: job["id"] in [one["id"] for one in self.jobs("pretrain", "--states=PENDING")])
        self.cluster.run("scontrol", "update", f"JobId={job['id']}", "StartTime=now")


def too_little_memory_cancelled_and_out_of_time(run):
    """`en` is ended for its memory, somebody cancels `ru`, `te` does not end before its limit; a job of pairs fails."""
    for part in ("ru", "te"):
        wait_for(lambda part=part: (run.project / f"tried-{part}").exists(), what=f"the first try of {part}")
    run.cluster.run("scancel", run.documents("ru")[0]["id"])
    run.cluster.run("scontrol", "update", f"JobId={run.documents('te')[0]['id']}", "TimeLimit=1")
    wait_for(lambda: run.training(), what="a saved step of the training")
    ends = {"en": "FAILED", "ru": "CANCELLED", "te": "TIMEOUT"}
    for part, end in ends.items():
        first, second = run.documents(part)
        assert (first["state"], second["state"]) == (end, "COMPLETED")
        assert (first["memory"], second["memory"]) == ("800M", "1600M")
        assert part == "te" or minutes(second["limit"]) == 2 * minutes(first["limit"])
    (message,) = (run.project / "logs/slurm").glob(f"rule_cc100/en,*/{run.documents('en')[0]['id']}.log")
    assert "exceeded memory limit" in message.read_text()
    mined = [job["state"] for job in run.jobs("mine")]
    assert sorted(mined) == ["COMPLETED"] * (len(mined) - 1) + ["FAILED"]
    assert "this one fails" in run.driver.output, "the failed job's own log is shown"


def notice(run):
    """SIGUSR1, as before a time limit: the state is saved, the job fails, its next attempt goes on."""
    job = run.training()
    run.cluster.run("scancel", "--signal=USR1", job["id"])
    wait_for(lambda: "stopped by SIGUSR1" in log(run.project), what="the state saved at the notice")
    after = run.goes_on(job, "a notice")
    assert after["id"] != job["id"] and (job["memory"], after["memory"]) == ("4000M", "8000M")


def preemption(run, busy):
    """More urgent jobs take both nodes: the training is told to end, and is put back into the queue."""
    job = run.training()
    release = busy()
    wait_for(lambda: "stopped by SIGTERM" in log(run.project), what="the state saved at the preemption")
    release()
    run.at_once(job)
    assert run.goes_on(job, "a preemption")["id"] == job["id"]


def node_lost(run):
    """The node of the training loses power: the job goes on elsewhere, the node comes back."""
    job = run.training()
    run.cluster.lose_node(job["nodes"])
    wait_for(lambda: run.cluster.state(job["nodes"]).startswith("down"), what="the node being missed")
    run.at_once(job)
    assert run.goes_on(job, "the loss of its node")["id"] == job["id"]
    run.cluster.start_node(job["nodes"])
    wait_for(lambda: run.cluster.state(job["nodes"]) in ("idle", "mix"), what="the node's return")


def kill(run):
    """SIGKILL of the whole job."""
    job = run.training()
    run.cluster.run("scancel", "--signal=KILL", job["id"])
    assert run.goes_on(job, "a kill")["id"] != job["id"]


@pytest.mark.slow
def test_a_run_whose_jobs_meet_all_of_it_ends_with_the_same_table(cluster, here, built, drive, busy):
    before(built / "src/stele/corpora/cc100.py", DOCUMENTS)
    before(built / "src/stele/pairs/mine.py", PAIRS)
    slowly(built)
    run = Run(cluster, built, drive(built, "--set-resources", "cc100:mem_mb=800*attempt", "--", TABLE))
    too_little_memory_cancelled_and_out_of_time(run)
    notice(run)
    preemption(run, busy)
    node_lost(run)
    kill(run)
    at_speed(built)
    assert run.driver.end() == 0, run.driver.output[-6000:]
    states = [job["state"] for job in run.jobs("pretrain")]
    assert states == ["FAILED", "CANCELLED", "COMPLETED"], "what SLURM put back into the queue is no failure"
    assert outputs(built) == outputs(here)
    ran = {job["comment"].split("_wildcards_")[0] for job in cluster.jobs(folder=built)}
    assert ran == {f"rule_{rule}" for rule in NODES} and "cluster cannot" not in run.driver.output
    assert_benchmarks_within_requests(built)
    left = {path.name for path in (built / "state").rglob("*") if path.is_file()}
    (name,) = left
    assert name.startswith("context-"), "what the driver hands to the tables, no job's"
    assert planned(built, TABLE) == {}, "what the nodes built is up to date for a run here, too"


def assert_benchmarks_within_requests(project):
    """The benchmark file of each job on a node has what it took beside what it requested."""
    rules = set()
    for path in (project / "logs").rglob("*.benchmark.tsv"):
        with path.open() as handle:
            (row,) = csv.DictReader(handle, delimiter="\t")
        if row.get("rule_name") in NODES:  # else it ran here
            requested = ast.literal_eval(row["resources"])
            assert float(row["max_pss"]) < requested["mem_mb"] and float(row["s"]) < 60 * requested["runtime"]
            rules.add(row["rule_name"])
    assert rules == NODES
