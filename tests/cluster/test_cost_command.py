"""`snakemake cost` and `stele cluster cost`: what they print and write, of which scale, and what they leave alone."""

import csv
import os
import re
import subprocess
import sys

import pytest

from stele.snakemake_support.patches.planning import planned
from tests.workflow.conftest import TABLE, clone, environment, snakemake


def cost(project, *arguments):
    """The command by itself: (exit code, what it prints, what it says)."""
    run = subprocess.run(
        [sys.executable, "-m", "stele", "cluster", "cost", *arguments],
        cwd=project,
        env=environment(PYTHONPATH="src"),
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout, run.stderr


def rows(path):
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


@pytest.fixture
def copy(fresh, tmp_path):
    return clone(fresh, tmp_path / "stele")


def test_the_literal_command_plans_the_papers_sizes_and_stamps_no_folder(copy):
    """The scale that the profile means, with `--config`; no cluster is asked; results/ of another scale stay."""
    (copy / "results").mkdir()
    (copy / "results/scale.txt").write_text("miniature\n")
    run = snakemake(copy, "--profile", "slurm", "cost", "--config", 'papers=["kept"]')
    assert run.returncode == 0, run.stdout
    assert "# What a run costs: scale paper, kept" in run.stdout
    assert sorted(os.listdir(copy / "work")) == ["paper"] and os.listdir(copy / "results") == ["scale.txt"]
    actual = rows(copy / "work/paper/cost.csv")
    kept = next(row for row in actual if row["job"] == "pretrain kept.pt0")
    assert float(kept["gpu_hours"]) == pytest.approx(float(kept["hours"]) * int(kept["gpus"]), rel=1e-3)
    assert kept["stage"] == "pretraining" and float(kept["flops"]) > 5e19
    assert float(kept["hours"]) * 60 < int(kept["limit_minutes"])
    assert {row["stage"] for row in actual} >= {"sources", "corpora", "pairs", "finetuning", "retrieval", "scoring"}
    assert (copy / "work/paper/cost.md").read_text() in run.stdout


def test_targets_and_scale_of_the_command_by_itself(copy):
    code, shown, message = cost(copy, "--", "--config", "scale=miniature", "--", TABLE)
    assert code == 0, message
    assert "scale miniature" in shown and "GPUs" not in shown.partition("Assumed")[0].replace("with GPUs", "").replace(
        "| GPUs", ""
    )
    actual = rows(copy / "work/miniature/cost.csv")
    assert {row["rule"] for row in actual} >= {"mirror", "standin", "pretrain", "retrieve", "score", "table"}
    assert not [row for row in actual if row["job"].startswith("pretrain kept")]
    # what the miniature took of this chain: some minutes of a core
    assert 60 < sum(float(row["cpu_hours"]) for row in actual) * 3600 < 1200


def test_a_cost_that_cannot_be_planned_is_an_error_and_no_file(copy):
    code, shown, message = cost(copy, "--", "--config", "scale=miniature", "--", "results/tables/msm/table_77.md")
    assert code == 1 and not shown and "unknown table" in message and "Snakemake cannot plan this" in message
    assert not (copy / "work").exists()


def test_the_jobs_are_those_of_snakemake_s_own_plan(copy, monkeypatch):
    monkeypatch.chdir(copy)
    listed = snakemake(copy, "-n", "--config", "scale=miniature", "--", TABLE).stdout
    _, jobs = planned(["--config", "scale=miniature", "--", TABLE], everything=False, leave_out="cost")
    total = next(int(line.split()[1]) for line in listed.splitlines() if line.startswith("total"))
    assert len(jobs) == total
    place = {job.log: number for number, job in enumerate(jobs)}
    assert len(place) == total and all(place[log] < place[job.log] for job in jobs for log in job.after)
    table = next(job for job in jobs if job.rule == "table")
    assert {jobs[place[log]].rule for log in table.after} >= {"context"}


def test_where_all_is_built_nothing_is_left(copy):
    context = ["--config", "scale=miniature", "--", "results/tables/context.json"]
    assert snakemake(copy, *context).returncode == 0
    code, shown, message = cost(copy, "--", *context)
    assert code == 0, message
    assert "Nothing is left to be built." in shown and rows(copy / "work/miniature/cost.csv") == []
    assert "1 job, everything" in cost(copy, "--all", "--", *context)[1]


def evaluated(folder, *asked):
    """What `stele evaluate` prints."""
    command = [sys.executable, "-m", "stele", "evaluate", *asked]
    run = subprocess.run(command, cwd=folder, env=environment(PYTHONPATH="src"), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_what_an_evaluation_takes_is_planned_and_nothing_is_run(copy):
    """Its head names what is planned; the disk that a search needs for a while stands beside what it keeps."""
    asked = ["me5_small", "--benchmarks", "miracl", "--languages", "sw", "th", "--plan"]
    largest = f"{542_166 * 384 * 4 / 1e6:,.0f} MB"  # Thai's pool
    here = evaluated(copy, *asked)
    line = re.search(r"^me5_small on miracl: \d+ jobs; (.*)$", here, re.M)[1]
    assert re.match(rf"download [\d.]+ GB, disk [\d.]+ GB, disk while it runs {largest}, memory \d.*, time .* h", line)
    on_cluster = evaluated(copy, *asked, "--snakemake", "--profile", "slurm")
    assert "# What a run costs: scale paper, me5_small on miracl\n" in on_cluster
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in on_cluster.splitlines() if "|" in line]
    head = next(line for line in lines if line[0] == "stage")
    stages = {line[0]: dict(zip(head, line, strict=True)) for line in lines if len(line) == len(head)}
    assert stages["sources"]["download"].endswith("GB") and stages["retrieval"]["kept"].endswith("MB")
    assert stages["retrieval"]["temporary"] == stages["together"]["temporary"] == largest
    assert (copy / "evaluate/me5_small.yaml").is_file()
    assert not any((copy / name).exists() for name in ("resources", "work", "results_evaluate", "state"))
