"""Law 1: the report of a built table is made without a network."""

from tests.workflow.conftest import TABLE, snakemake


def test_the_report_builds(built):
    run = snakemake(built, "--report", "report.html", TABLE)
    assert run.returncode == 0, run.stdout
    assert (built / "report.html").stat().st_size > 100_000
