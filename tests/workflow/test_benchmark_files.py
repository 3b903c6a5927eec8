"""Benchmark files stand beside logs and rerun nothing, whether they are there or not."""

import os

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
