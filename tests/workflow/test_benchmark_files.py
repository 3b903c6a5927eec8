"""Benchmark files stand beside logs, rerun nothing whether they are there or not, and end in usage.csv."""

import csv
import os
import re

from tests.workflow.conftest import TABLE, planned, snakemake


def timings(project):
    actual = sorted((project / "logs").rglob("*.benchmark.tsv"))
    assert len(actual) > 15
    return actual


def test_results_without_them_are_not_built_again(built):
    for path in timings(built):
        path.unlink()
    assert planned(built, TABLE, "mirror", "context") == {}
    assert snakemake(built, "--touch", TABLE).returncode == 0, "nothing to accept either"


def test_older_and_newer_ones_change_nothing(built):
    for number, path in enumerate(timings(built)):
        if number % 2:
            os.utime(path, (1, 1))
        else:
            path.touch()
    assert planned(built, TABLE) == {}


def test_a_run_says_what_its_jobs_took(built):
    with (built / "results/usage.csv").open() as handle:
        rows = {(row["rule"], row["job"]): row for row in csv.DictReader(handle)}
    assert {"mirror", "dataset", "mine", "pretrain", "finetune", "retrieve", "score", "table"} <= {r for r, _ in rows}
    training = rows["pretrain", "msm.pt0"]
    # the command ran in the local worker: only its record knows what it took
    assert (training["wall_from"], training["cpu_from"], training["peak_from"]) == ("benchmark", "record", "record")
    assert float(training["wall_s"]) > float(training["cpu_s"]) / 2 > 0
    assert float(training["requested_mb"]) > float(training["peak_mb"]) > 100
    assert float(training["expected_s"]) > 0 and training["slurm_jobs"] == ""
    assert rows["mirror", ""]["wall_from"] == "record" and rows["context", ""]["wall_from"] == "snakemake"
    assert "usage" not in (built / "results/manifest.json").read_text()
    for name in ("usage.csv", "usage.md", "usage.svg"):
        (built / "results" / name).unlink()
    run = snakemake(built, "usage")
    assert run.returncode == 0, run.stdout
    assert re.search(r"^\| pretrain +\| +1 \|", (built / "results/usage.md").read_text(), re.MULTILINE)
    assert (built / "results/usage.svg").stat().st_size > 10_000
    assert planned(built, TABLE) == {}
