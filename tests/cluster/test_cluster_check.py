"""`stele cluster check` on a cluster that works and on ones that do not: a plain table, nothing left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stele.cluster import check, settings, squeue
from tests.cluster.conftest import wait_for
from tests.waiting import PATIENCE
from tests.workflow.conftest import environment

ITEMS = ["cluster.yaml", "SLURM", "built here", "through SLURM", "told to end", "GPU", "documents", "training pairs"]


@pytest.fixture
def start(cluster, fresh, tmp_path):
    """start(names, *options) -> the command, started where a user's clone is."""

    def started(text, *options):
        (tmp_path / "mine.yaml").write_text(text)
        settings = environment(**cluster.environment, PYTHONPATH=str(fresh / "src"), STELE_DEVICE="cpu")
        return subprocess.Popen(
            [sys.executable, "-m", "stele", "cluster", "check", "--folder", tmp_path, *options],
            cwd=fresh,
            env=settings | {"STELE_CLUSTER": str(tmp_path / "mine.yaml")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return started


def jobs(cluster, folder):
    return [job for job in cluster.jobs() if Path(job["folder"]).is_relative_to(folder)]


@pytest.mark.slow
def test_a_cluster_that_works_is_ready(cluster, start, tmp_path):
    command = start("partitions: {gpu: gpu}\ngpu_model: fake\n")
    output, _ = command.communicate(timeout=4 * PATIENCE)
    assert command.returncode == 0, output
    assert "this cluster is ready" in output and "NOT OK" not in output
    lines = [line for line in output.splitlines() if " ok " in line]
    assert [line[:16].strip() for line in lines] == [*ITEMS, "encoder", "result"], output
    assert '"gpu_model": "fake"' in output and "gpu: 2 x (6 CPUs, 16000 MB, 2 fake)" in output
    ran = jobs(cluster, tmp_path)
    rules = {job["comment"].split("_wildcards_")[0].removeprefix("rule_") for job in ran}
    assert rules == {"mirror", "standin", "cc100", "mine", "pretrain", "finetune", "retrieve", "score"}
    with_gpu = {job["comment"].split("_")[1] for job in ran if job["partition"] == "gpu"}
    assert with_gpu == {"pretrain", "retrieve"}, "the launcher sees to it that they have their GPU"
    states = [job["state"] for job in ran if job["comment"].startswith("rule_pretrain")]
    assert states == ["FAILED", "COMPLETED"], "it was told to end"
    assert [job["state"] for job in ran].count("COMPLETED") == len(ran) - 1, "and no other job failed"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_check_that_is_ended_or_has_no_time_leaves_no_job(cluster, start, busy, tmp_path):
    busy()
    ended = start("")
    wait_for(lambda: [job for job in jobs(cluster, tmp_path) if job["state"] == "PENDING"], what="its first job")
    ended.send_signal(signal.SIGTERM)
    assert ended.communicate(timeout=PATIENCE) and ended.returncode == 128 + signal.SIGTERM
    assert {job["state"] for job in jobs(cluster, tmp_path)} == {"CANCELLED"}
    assert not any(path.is_dir() for path in tmp_path.iterdir())
    late = start("", "--minutes", "0.01")
    output, _ = late.communicate(timeout=PATIENCE)
    assert late.returncode == 1 and "through SLURM    NOT OK  not done in 0.6 s" in output, output
    assert {job["state"] for job in jobs(cluster, tmp_path)} == {"CANCELLED"}
    (kept,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert f"{kept} is kept" in output


def test_why_jobs_wait_is_slurm_s_own_word(monkeypatch, tmp_path):
    here = f"|{tmp_path.resolve()}|"
    queued = [f"5|run|RUNNING{here}None|rule_mine", "6|run|PENDING|/elsewhere|Priority|rule_mine"]
    monkeypatch.setattr(squeue, "query", lambda command, timeout: "\n".join(queued))
    assert check.pending_reasons(tmp_path) == ""
    queued.append(f"7|run|PENDING{here}QOSMaxGRESPerUser|rule_mine_wildcards_a|b")
    message = check.pending_reasons(tmp_path)
    assert message == "; waiting in the queue: 7 rule_mine_wildcards_a|b: QOSMaxGRESPerUser (--minutes waits longer)"


def test_an_error_of_the_check_has_the_message_of_the_run(start):
    command = start("partitions: {gpu: gpuz}\n")
    output, _ = command.communicate(timeout=PATIENCE)
    assert command.returncode == 1
    assert "through SLURM    NOT OK  exit code 1" in output and "no partition 'gpuz' (did you mean 'gpu'?)" in output, (
        output
    )
    assert (
        "told to end      -" in output and "built here       -       not finished, since the other run failed" in output
    )


def test_the_check_has_settings_of_its_own(root, tmp_path):
    given = {"account": "p1", "gpus": {"pretrain": 4, "finetune": 4}, "nodes": {"pretrain": 2}}
    given_settings = settings.ClusterSettings.model_validate(given | {"hours": {"cpu": 0.25, "gpu": 48}})
    check.prepare(root, tmp_path / "there", given_settings)
    scores_read = settings.read(tmp_path / "there/cluster.yaml")
    assert scores_read.account == "p1" and scores_read.gpus.model_dump(exclude_none=True) == {
        "pretrain": 1,
        "retrieve": 1,
    }
    assert scores_read.nodes.model_dump(exclude_none=True) == {}, "one GPU at a time"
    assert scores_read.hours.model_dump() == {"cpu": 0.25, "gpu": 0.5}, "short jobs start sooner"
    check.prepare(root, tmp_path / "here")
    assert not (tmp_path / "here/cluster.yaml").exists()


def test_the_tensors_of_a_file_are_named_with_type_and_shape(tmp_path):
    import torch
    from safetensors.torch import save_file

    save_file({"a": torch.zeros(2, 3), "b": torch.zeros(4, dtype=torch.int64)}, tmp_path / "x.safetensors")
    assert check.tensors(tmp_path / "x.safetensors") == {"a": ["F32", [2, 3]], "b": ["I64", [4]]}


def test_the_check_is_not_started_inside_a_job(monkeypatch, capsys):
    from stele.command.cli import main

    monkeypatch.setitem(os.environ, "SLURM_JOB_ID", "7")
    assert main(["cluster", "check"]) == 1
    assert "inside a SLURM job" in capsys.readouterr().err
