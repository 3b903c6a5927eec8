"""What jobs took: from what they leave behind, and from SLURM's accounting; every figure with where it is from."""

import base64
import csv
import json
import os
import re
import time

import pytest
from pandas import DataFrame

from stele.artifacts import results
from stele.cluster import requests, usage
from stele.cluster.history import finished_jobs, summary
from stele.cluster.slurm import sacct, submissions
from stele.cluster.slurm.sacct import Account
from stele.command import cli
from tests.cluster.test_plugin import job as planned_job

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
START = 1_800_000_000.0

# a job that was preempted and started again, one with two steps, one cancelled by somebody; as Slurm 22.05 prints them
SACCT = """\
101|PREEMPTED|600|00:00:00|
101.batch|CANCELLED|600|00:00:00|
101|COMPLETED|3600|02:00:01|
101.batch|COMPLETED|3600|01:00:00.500|2097152K
101.0|COMPLETED|3590|01:00:00.500|4194304K
102|CANCELLED by 1000|30|00:01.250|
102.extern|COMPLETED|30|00:00.001|0
103|OUT_OF_MEMORY|1-0|5|not a number
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of a workflow."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def done(output, rule, log, *, shellcmd="", started=START, ended=START + 90, text="{}"):
    """What Snakemake leaves of a job that is done: its output, and a record of it."""
    name = base64.urlsafe_b64encode(output.encode()).decode()
    pieces = [name[at : at + 254] for at in range(0, len(name), 254)]
    path = finished_jobs.METADATA.joinpath(*[f"@{piece}" for piece in pieces[:-1]], pieces[-1])
    for file in (path, finished_jobs.Path(output)):
        file.parent.mkdir(parents=True, exist_ok=True)
    finished_jobs.Path(output).write_text(text)
    record = {"rule": rule, "log": [log], "shellcmd": shellcmd or output, "starttime": started, "endtime": ended}
    path.write_text(json.dumps(record))


def measured(log, seconds, memory="NA", cpu="NA"):
    path = finished_jobs.Path(log.replace(".log", finished_jobs.SUFFIX))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEADER}{seconds}\t0:00:01\t999\t999\t1\t{memory}\t0.00\t0.00\t0\t{cpu}\n")


def record(job, **facts):
    return json.dumps({"job": job, "wall_seconds": 80.0, "cpu_seconds": 70.0, "peak_memory_mb": 500, **facts})


def test_the_larger_figure_holds_and_says_where_it_is_from(folder):
    log = "logs/tiny/retrieve/nq.msm.direct.pt0-ft0.log"
    done("results/nq/retrieval.json", "retrieve", log, text=record("retrieve", host="n1", device="H100", processes=4))
    measured(log, 100.5, memory=40.0, cpu=0.03)  # the client of a worker
    (job,) = finished_jobs.jobs("logs/tiny")
    assert (job.rule, job.job, job.host, job.device, job.processes) == (
        "retrieve",
        "nq.msm.direct.pt0-ft0",
        "n1",
        "H100",
        4,
    )
    assert (job.wall_s, job.cpu_s, job.peak_mb) == (100.5, 70.0, 500)
    assert (job.wall_from, job.cpu_from, job.peak_from) == ("benchmark", "record", "record")
    measured(log, 100.5, memory=900.0, cpu=280.0)  # a command and its processes
    (job,) = finished_jobs.jobs("logs/tiny")
    assert (job.cpu_s, job.cpu_from, job.peak_mb, job.peak_from) == (280.0, "benchmark", 900.0, "benchmark")


def test_a_job_without_one_or_both(folder):
    done("a.json", "score", "logs/tiny/score/a.log", text=record("score"), started=START + 1)
    done("b.md", "table", "logs/tiny/table/b.log", started=START + 2)
    measured("logs/tiny/table/b.log", 1.0)  # over before anybody looked
    done("c.md", "context", "logs/tiny/context.log", started=START + 3, ended=START + 10)
    actual = list(finished_jobs.jobs("logs/tiny"))
    walls = [(job.wall_s, job.wall_from) for job in actual]
    assert walls == [(80.0, "record"), (1.0, "benchmark"), (7.0, "snakemake")]
    assert [(job.cpu_s, job.cpu_from) for job in actual] == [(70.0, "record"), (None, None), (None, None)]
    assert [job.job for job in actual] == ["a", "b", ""]


def test_the_record_of_another_job_is_not_taken_for_its_copy_s(folder):
    done("results/alias.json", "alias", "logs/tiny/alias/a.log", text=record("average"))
    done("work/mined/record.json", "mine", "logs/tiny/mine/m.log", text=record("pairs mine"))
    actual = {job.rule: (job.cpu_s, job.cpu_from) for job in finished_jobs.jobs("logs/tiny")}
    assert actual == {"alias": (None, None), "mine": (70.0, "record")}


def test_jobs_of_other_scales_and_those_whose_outputs_are_gone_are_left_out(folder):
    done("a.md", "table", "logs/tiny/table/a.log")
    done("b.md", "table", "logs/paper/table/b.log")
    done("c.md", "table", "logs/tiny/table/c.log")
    os.unlink("c.md")
    (finished_jobs.METADATA / "broken").write_text("{")
    assert [job.job for job in finished_jobs.jobs("logs/tiny")] == ["a"]


def test_a_job_of_several_outputs_is_one_and_of_two_folders_with_one_log_the_last(folder):
    log = "logs/tiny/table/x.log"
    for name in ("results/x.md", "results/" + "long/" * 60 + "x.csv"):  # Snakemake cuts long names into pieces
        done(name, "table", log, shellcmd="one")
    done("results_try/x.md", "table", log, shellcmd="two", started=START + 1000, ended=START + 1005)
    (job,) = finished_jobs.jobs("logs/tiny")
    assert job.started == START + 1000


# --- accounting -------------------------------------------------------------------------------------------------------
def test_sacct_s_words_are_read():
    scores_read = sacct.read(SACCT.replace("103|OUT_OF_MEMORY|1-0|5|not a number\n", "some warning\n"))
    assert scores_read == {
        "101": Account("COMPLETED", 2, 4200, 7201, 4096.0),
        "102": Account("CANCELLED", 1, 30, 1.25, 0.0),
    }


def program(folder, text):
    (folder / "bin").mkdir(exist_ok=True)
    path = folder / "bin/sacct"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_sacct_is_asked_once_for_all_jobs_and_where_there_is_no_accounting_nobody_knows(folder):
    assert sacct.accounts(["101"]) == {}, "no sacct"
    program(folder, "echo 'Slurm accounting storage is disabled' >&2; exit 1")
    assert sacct.accounts(["101"]) == {}
    program(folder, 'echo "$*" >> asked; while read -r line; do echo "$line"; done < said')
    (folder / "said").write_text("\n".join(SACCT.splitlines()[:7]))
    assert set(sacct.accounts(["102", "101", "101"])) == {"101", "102"}
    (line,) = (folder / "asked").read_text().splitlines()
    assert line.endswith("--jobs=101,102") and "--duplicates" in line and "--parsable2" in line
    assert sacct.accounts([]) == {} and len((folder / "asked").read_text().splitlines()) == 1


# --- against the plan -------------------------------------------------------------------------------------------------
def test_a_job_on_a_cluster_beside_what_it_asked_for(folder, monkeypatch):
    """What is noted at the start of a run, at submission and on the node comes together, attempts and all."""
    log = "logs/tiny/mine/b.log"
    resources = {"mem_mb": 1000, "runtime": 2, "gpus": 2, "nodes": 2, "slurm_partition": "gpu", "tmpdir": "/tmp"}
    plan = requests.JobRequest("pairs", "mine", {}, log, ("b",), 1, resources, seconds=45.0)
    requests.note([plan])
    for attempt, slurm in ((1, "101"), (2, "102")):
        one = planned_job(attempt=attempt, resources={**resources, "mem_mb": 1000 * attempt})
        submissions.note(one)
        monkeypatch.setenv("SLURM_JOB_ID", slurm)
        submissions.note_start(one)
        submissions.note_start(one)  # SLURM starts it again
    assert submissions.submitted(one) == submissions.content(one)
    done("b", "mine", log, text=record("pairs mine"))
    measured(log, 90.0)
    program(folder, 'while read -r line; do echo "$line"; done < said')
    (folder / "said").write_text(SACCT)
    (row,) = usage.rows("logs/tiny")
    assert (row["requested_mb"], row["requested_minutes"], row["partition"], row["attempts"]) == (2000, 2, "gpu", 2)
    assert (row["gpus"], row["nodes"], row["gpu_hours"]) == (4, 2, 4 * 90 / 3600)
    assert row["share_of_time"] == 0.75 and row["share_of_expected"] == 2.0 and row["share_of_memory"] is None
    assert (row["slurm_jobs"], row["slurm_starts"], row["slurm_elapsed_s"]) == ("101 102", 3, 4230)
    assert (row["slurm_state"], row["slurm_peak_mb"]) == ("CANCELLED", 4096)
    submissions.note(planned_job(attempt=1))
    assert json.loads(submissions._path(one).read_text())["slurm"] == [], "a new run counts anew"


def test_what_was_noted_before_stays_and_what_cannot_be_read_is_nothing(folder):
    assert requests.read() == {}
    one = requests.JobRequest("pairs", "mine", {}, "a.log", ("a",), 3, {"mem_mb": 5, "tmpdir": "<TBD>"})
    requests.note([one])
    requests.note([requests.JobRequest("pairs", "mine", {}, "b.log", ("b",), 1, {}, seconds=1.23)])
    requests.note([])
    assert requests.read() == {"a.log": {"threads": 3, "mem_mb": 5}, "b.log": {"threads": 1, "seconds": 1.2}}
    requests.NOTES.write_text("{")
    assert requests.read() == {}


def row(rule="score", **values):
    known = {"rule": rule, "job": "x", "wall_s": 3600.0, "cpu_s": 1800.0, "gpu_hours": 0.0, "attempts": 1}
    return {**dict.fromkeys(usage.COLUMNS), **known, **values}


def test_rules_are_summed_by_hand():
    rows = [
        row(wall_s=1800.0, expected_s=900.0, share_of_time=0.5, peak_mb=100),
        row(cpu_s=None, share_of_time=0.25, share_of_memory=0.9),
        row("pretrain", wall_s=7200.0, gpu_hours=16.0, attempts=3, slurm_starts=4),
    ]
    jobs = DataFrame(rows, columns=usage.COLUMNS)
    rules = summary.by_rule(jobs)
    assert list(rules.index) == ["pretrain", "score"]
    first, second = (rule for _, rule in rules.iterrows())
    assert (first.wall_s, first.gpu_hours, first.expected_s) == (7200, 16, 0) and first[summary.MOST].isna().all()
    assert (second.jobs, second.wall_s, second.longest_s, second.cpu_s) == (2, 5400, 3600, 1800)
    assert (second.expected_s, second.peak_mb, second.share_of_time, second.share_of_memory) == (900, 100, 0.5, 0.9)
    text = summary.markdown(rules, jobs)
    assert "| score | 2 | 1 h 30 min | 15 min | 1 h | 30 min | | 100 MB | 50 % | 90 % |" in re.sub(" +", " ", text)
    assert "- score x: 90 %" in text and "- pretrain x: 4 times" in text
    nothing = jobs.head(0)
    assert "No job" in summary.markdown(summary.by_rule(nothing), nothing)


def test_the_command_writes_three_files_that_no_manifest_has(folder, capsys):
    done("results/nq/m/direct.json", "average", "logs/tiny/average/nq.m.direct.log", text=record("average"))
    (folder / "results/usage.md").write_text("of an earlier run")
    assert cli.main(["cluster", "usage", "--logs", "logs/tiny"]) == 0
    assert "1 jobs: results/usage.csv" in capsys.readouterr().out
    ((actual),) = csv.DictReader((folder / "results/usage.csv").open())
    assert tuple(actual) == usage.COLUMNS
    assert (actual["job"], actual["wall_s"], actual["wall_from"]) == ("nq.m.direct", "80", "record")
    assert actual["started"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(START))
    assert actual["requested_mb"] == actual["slurm_state"] == "", "nobody knows"
    picture = (folder / "results/usage.svg").read_bytes()
    assert cli.main(["cluster", "usage", "--logs", "logs/tiny/"]) == 0
    assert (folder / "results/usage.svg").read_bytes() == picture
    assert set(results.manifest_files(folder / "results")) == {"nq/m/direct.json"}


def test_without_a_job_there_is_nothing_to_draw_and_it_says_so(folder):
    assert cli.main(["cluster", "usage", "--logs", "logs/none"]) == 0
    assert "No job" in (folder / "results/usage.md").read_text()
