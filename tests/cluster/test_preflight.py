"""Before the first job: what a cluster lacks for jobs is found in what `sinfo` says of it; all is said at once."""

import dataclasses
from math import inf

import pytest

from stele.cluster import preflight, settings, sinfo
from stele.cluster.requests import JobRequest
from stele.cluster.sinfo import nodes, problems, problems_of_retries
from stele.cluster.work import Work
from stele.errors import SteleError
from tests.workflow.conftest import copy_project, snakemake

SINFO = """\
short*|4:00:00|64|256000|(null)|100
accel|2-00:00:00|32|512000|gpu:h100:4(S:0-1)|8
accel|2-00:00:00|32|1024000+|gpu:a100:8|2
endless|infinite|16|64000|nvme:1|1
"""
ON_TWO_NODES = {"slurm_partition": "accel", "nodes": 2, "tasks": 2, "mpi": "srun", "tasks_per_gpu": 0}


@pytest.fixture
def cluster_yaml(tmp_path, monkeypatch):
    """cluster_yaml(text): the user's file of names is that."""

    def write(text):
        (tmp_path / "cluster.yaml").write_text(text)
        monkeypatch.setenv(settings.VARIABLE, str(tmp_path / "cluster.yaml"))
        settings._read.cache_clear()

    yield write
    settings._read.cache_clear()


def job(rule="pretrain", **values):
    known = {"stage": "pretraining", "wildcards": {}, "log": f"logs/paper/{rule}/x.log", "threads": 8}
    known |= {"outputs": ("work/paper/x.json",), "resources": {}}
    return JobRequest(**{**known, "rule": rule, **values})


@pytest.mark.parametrize(
    ("resources", "threads", "problem"),
    [
        ({"mem_mb": 8000, "runtime": 240}, 8, None),
        ({"slurm_partition": "accel", "gpu": 8, "nodes": 1, "runtime": 2880}, 8, None),
        ({"slurm_partition": "accel", "gpu": 8, "nodes": 2, "gpu_model": "h100"}, 8, None),
        ({"slurm_partition": "endless", "runtime": 10**6}, 8, None),
        ({"slurm_partition": "short,accel", "gpu": 4}, 8, None),
        ({"slurm_partition": "accel", "gpu": 8, "gpu_model": "h100"}, 8, "no node with 8 GPUs of model h100"),
        ({"gpu": 1}, 8, "partition short has no node with 1 GPU; partitions with such GPUs: accel"),
        ({"slurm_partition": "accel", "gpu": 4, "gpus": 4}, 8, None),
        ({"slurm_partition": "accel", "gpu": 1, "gpus": 4}, 8, "requests 1 GPU and its command uses 4"),
        ({"slurm_partition": "accell"}, 8, "no partition 'accell' (did you mean 'accel'?)"),
        ({"runtime": 300}, 8, "ends jobs after 4 hours; set hours.cpu: 4"),
        ({"mem_mb": 300_000}, 8, "no node with 300000 MB"),
        ({}, 65, "no node with 65 CPUs"),
        # on several nodes GPUs are `gres`, of each node
        ({**ON_TWO_NODES, "gres": "gpu:a100:8"}, 8, None),
        ({**ON_TWO_NODES, "gres": "gpu:8"}, 8, None),
        ({**ON_TWO_NODES, "nodes": 3, "gres": "gpu:8"}, 8, "accel has only 2 nodes with 8 GPUs, 8 CPUs"),
        ({**ON_TWO_NODES, "gres": "gpu:h100:8"}, 8, "no node with 8 GPUs of model h100"),
        ({**ON_TWO_NODES, "gres": "gpu:4", "runtime": 3000}, 8, "set hours.gpu: 48"),
        (
            {**ON_TWO_NODES, "nodes": 11, "gres": "gpu:4"},
            8,
            "10 nodes with 4 GPUs, 8 CPUs, 0 MB of memory; a job needs 11",
        ),
        # each alone is there, all together are not
        (
            {"slurm_partition": "accel", "gpu": 4, "gpu_model": "h100", "mem_mb": 600_000},
            8,
            "no node with all of 4 GPUs of model h100, 8 CPUs, 600000 MB of memory",
        ),
    ],
)
def test_what_is_missing_is_named_with_the_way_out(resources, threads, problem):
    actual = problems(resources, threads, nodes(SINFO))
    assert (actual == []) if problem is None else (len(actual) == 1 and problem in actual[0]), actual


def test_a_cluster_without_a_default_partition_wants_a_name():
    (actual,) = problems({"gpu": 1}, 1, nodes(SINFO.replace("*", "")))
    assert "name one as partitions.gpu; there are accel, endless, short" in actual


# --- attempts ---------------------------------------------------------------------------------------------------------
def test_a_further_attempt_that_would_be_refused_is_said(cluster_yaml):
    cluster, one = nodes(SINFO), job("score", resources={"mem_mb": 100_000, "runtime": 100}, attempts=4)
    free = {"gigabytes": inf, "hours": inf}
    assert problems_of_retries(one.resources, 4, free, cluster) == [
        "gigabytes.cpu: 256 (nodes of short have 256000 MB)",
        "hours.cpu: 4 (partition short ends jobs after 4 hours)",
    ]
    assert problems_of_retries(one.resources, 2, free, cluster) == []
    assert problems_of_retries(one.resources, 4, {"gigabytes": 256.0, "hours": 4.0}, cluster) == []
    cluster_yaml("hours: {cpu: 4}\n")
    (line,) = preflight.growth([one, one], cluster)
    assert "gigabytes.cpu: 256" in line and "hours.cpu" not in line


def test_a_training_longer_than_all_its_attempts_names_how_many_it_takes(cluster_yaml):
    cluster = nodes(SINFO)
    requested = {"slurm_partition": "accel", "gpu": 4, "runtime": 2880}
    long = job(resources=requested, seconds=3600 * 200, attempts=4, resumes=True)
    cluster_yaml("hours: {gpu: 48}\n")
    (line,) = preflight.of_cluster([long, long], cluster)  # 4 x 48 < 200 <= 5 x 48
    assert "pretrain x takes about 200 h, more than 4 attempts of at most 48 h; use --retries 4" in line
    assert preflight.of_cluster([dataclasses.replace(long, attempts=5)], cluster) == []
    cluster_yaml("hours: {gpu: 24}\n")
    (line,) = preflight.of_cluster([dataclasses.replace(long, resources=requested | {"runtime": 1440})], cluster)
    assert "--retries 8" in line  # 9 x 24
    (line,) = preflight.of_cluster([dataclasses.replace(long, resumes=False)], cluster)
    assert "do not resume from one another" in line
    assert preflight.of_cluster([dataclasses.replace(long, seconds=None)], cluster) == [], "nobody knows how long"
    on_cpu = job(resources={"runtime": 240}, seconds=3600 * 200)
    assert preflight.of_cluster([on_cpu], cluster) == [], "what a CPU takes is too rough a guess"


# --- all at once ------------------------------------------------------------------------------------------------------
def test_one_error_lists_everything(jobs, monkeypatch, cluster_yaml, capsys):
    cluster_yaml("partitions: {gpu: gpus}\n")
    monkeypatch.setattr(sinfo.squeue, "query", lambda *_, **__: SINFO)
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10e9}))
    monkeypatch.setattr(preflight, "_left_of_quotas", dict)
    monkeypatch.setattr(preflight, "unanswered", lambda urls: dict.fromkeys(urls, "ConnectTimeout"))
    plan = jobs(scale="paper", papers=["msm"], user_data={"nq_dpr": "/no/such"})
    jobs = [
        job("dataset", stage="sources", wildcards={"dataset": "cc100", "part": "sw"}, log="d.log", local=True),
        job(resources={"slurm_partition": "gpus"}, after=("d.log",), work=Work(kept=40e9)),
        job("table", stage="tables", wildcards={"paper": "msm", "number": "01"}, local=True, log="t.log"),
    ]
    with pytest.raises(SteleError) as error:
        preflight.check(plan, jobs, slurm=True)
    message = str(error.value)
    assert message.count("\n- ") == 3
    assert "no partition 'gpus'; there are accel, endless, short (pretrain)" in message
    assert "keeps about 40.0 GB there, and 10.0 GB are free" in message
    assert "no answer from data.statmt.org (ConnectTimeout); jobs affected: 1 (dataset" in message
    assert "mirrors:" in message
    assert "user_data.nq_dpr: /no/such is not a folder" in capsys.readouterr().err, "said, and no reason to stop"
    # a job that needs no download can be built: what cannot be fetched is said and the run goes on
    others = [jobs[0], job("score", stage="scoring", log="s.log"), jobs[2]]
    preflight.check(plan, others, slurm=False)
    assert "no answer from data.statmt.org" in capsys.readouterr().err


def test_everything_waits_at_some_remove():
    chain = [job("dataset", log="a"), job(log="b", after=("a",)), job("score", log="c", after=("b", "x"))]
    shown = job("table", stage="tables", log="t")
    assert preflight.all_wait_for({"a"}, [*chain[::-1], shown])
    assert not preflight.all_wait_for({"a"}, [*chain, job("mine", log="m")])
    assert not preflight.all_wait_for(set(), [shown])


def test_partitions_are_asked_about_for_jobs_on_nodes_alone(jobs, monkeypatch):
    def ask(*_, **__):
        raise AssertionError("nobody runs there")

    monkeypatch.setattr(sinfo.squeue, "query", ask)
    plan = jobs(scale="miniature", papers=["msm"])
    preflight.check(plan, [job("table", stage="tables", wildcards={"paper": "msm", "number": "01"}, local=True)], True)
    assert sinfo.size({"mem_mb": "<TBD>"}, "mem_mb") == 0, "what is not known before is no problem"


def test_a_run_that_is_refused_leaves_nothing_and_says_why_once(root, tmp_path):
    """The real workflow, at the papers' sizes, on a machine that must not ask the network."""
    project = copy_project(root, tmp_path / "stele")
    target = "results/tables/msm/table_01.md"
    run = snakemake(project, "--cores", "1", "--config", "scale=paper", "offline=true", "--", target)
    assert run.returncode == 1
    assert run.stdout.count("this cannot be built as things are:") == 1
    assert "not in any mirror, and the network is off (offline: true); jobs affected:" in run.stdout
    assert "needs XOR-TyDi, training data of the DPR baseline" in run.stdout, "what only the user can give"
    assert not any((project / folder).exists() for folder in ("results", "work", "resources", "state"))


def test_rows_that_wait_for_the_user_are_named_whatever_tables_they_are_of(jobs):
    plan = jobs(scale="paper")
    tables = [job("table", wildcards={"paper": "today", "number": number}) for number in ("05", "07")]
    assert preflight.unavailable(plan, tables[:1]) == []
    (lines,) = ["\n".join(preflight.unavailable(plan, tables))]
    assert "mewsli_x" in lines and "user_data" in lines
