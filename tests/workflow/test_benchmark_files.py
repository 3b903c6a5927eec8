"""Benchmark files stand beside logs, measure the job itself, and rerun nothing, whether they are there or not."""

import csv
import os

from tests.workflow.conftest import TABLE, planned, snakemake


def test_what_the_worker_runs_for_a_job_is_measured(built):
    """Not the client that waits for it, which takes 14 MB."""
    (timing,) = (built / "logs").rglob("pretrain/*.benchmark.tsv")
    with open(timing) as lines:
        (measured,) = csv.DictReader(lines, delimiter="\t")
    assert float(measured["max_rss"]) > 150 and float(measured["cpu_time"]) > 0.1


def test_what_was_measured_is_no_reason_to_build_anything(built):
    timings = sorted((built / "logs").rglob("*.benchmark.tsv"))
    assert len(timings) > 15
    for number, path in enumerate(timings):
        os.utime(path, (1, 1) if number % 2 else None)
    assert planned(built, TABLE) == {}
    for path in timings:
        path.unlink()
    assert planned(built, TABLE, "mirror", "context") == {}
    assert snakemake(built, "--touch", TABLE).returncode == 0, "nothing to accept either"
