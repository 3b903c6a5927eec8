"""Law 1: the report of a built table is made without a network, with tables and figures in categories."""

import json
import re

from tests.workflow.conftest import TABLE, snakemake

FIGURE = "results/tables/cell_map.svg"


def test_the_report_builds(built):
    assert snakemake(built, FIGURE).returncode == 0
    run = snakemake(built, "--report", "report.html", TABLE, FIGURE)
    assert run.returncode == 0, run.stdout
    report = (built / "report.html").read_text(encoding="utf-8")
    categories = json.loads(re.search(r"var categories = (\{.*?\});\n", report)[1])
    table = TABLE.replace(".md", ".html")
    assert categories == {"Tables": {"msm": [table]}, "Figures": {"all papers": [FIGURE]}}
    assert len(report) > 100_000
