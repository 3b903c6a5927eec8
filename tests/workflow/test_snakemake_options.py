"""What users of Snakemake try: a report, the rules as a module, unit tests, deleting what was built."""

import json
import os
import re
import shutil

from stele.command.parent_watch import identity
from tests.workflow.conftest import TABLE, planned, snakemake

FIGURE = "results/tables/cell_map.svg"
SNAKEFILE = """
configfile: "config.yaml"

rule summary:
    input: "{table}"
    output: "summary.md"
    shell: "cp {{input}} {{output}}"

module stele:
    snakefile: "{project}/Snakefile"
    config: config["stele"]

use rule * from stele
"""


def test_a_report_has_a_caption_and_a_category_for_each_table_and_figure(built):
    assert snakemake(built, FIGURE).returncode == 0
    run = snakemake(built, "--report", "report.html", TABLE, FIGURE)
    assert run.returncode == 0, run.stdout
    report = (built / "report.html").read_text(encoding="utf-8")
    categories = json.loads(re.search(r"var categories = (\{.*?\});\n", report)[1])
    table = TABLE.replace(".md", ".html")
    assert categories == {"msm": {"Tables": [table]}, "All papers": {"Figures": [FIGURE]}}
    results = json.loads(re.search(r"var results = (\{\".*\});?\n", report)[1])
    assert "Table 10 of msm: our number" in results[table]["caption"] and "square" in results[FIGURE]["caption"]


def test_another_workflow_builds_a_table_by_its_first_rule(built, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for part in ("results", "work", "resources", "tiny.yaml"):  # what was built there is found here
        shutil.move(built / part, folder / part)
    shutil.rmtree(folder / "results/tables")
    (folder / "config.yaml").write_text("stele: {scale: tiny.yaml, papers: [msm]}\n")
    (folder / "Snakefile").write_text(SNAKEFILE.format(table=TABLE, project=built))
    assert planned(folder) == {"summary": 1, "context": 1, "table": 1}
    run = snakemake(folder, "--cores", "1")
    assert run.returncode == 0, run.stdout
    assert "| MSM " in (folder / "summary.md").read_text() and (folder / "results/manifest.json").exists()


def test_unit_tests_are_generated_from_elsewhere(built, tmp_path):
    run = snakemake(tmp_path, TABLE, "-s", f"{built}/Snakefile", "--directory", str(built), "--generate-unit-tests")
    assert run.returncode == 0, run.stdout
    assert (built / ".tests/unit/test_table.py").exists()


def test_deleting_all_output_says_what_stays(built):
    run = snakemake(built, "-n", "--delete-all-output", TABLE)
    assert f"Would delete {TABLE}" in run.stdout and "rm -r results work/tiny/ resources/tiny/" in run.stdout
    note = built / ".snakemake/stele-drivers/a.json"
    note.parent.mkdir(exist_ok=True)
    note.write_text(json.dumps({"process": identity(os.getpid()), "folder": str(built)}))
    run = snakemake(built, "--delete-all-output", TABLE)
    assert run.returncode == 1 and f"another run (process {os.getpid()} " in run.stdout and (built / TABLE).exists()


def test_a_mistyped_rule_is_answered_with_the_nearest_rule(fresh):
    run = snakemake(fresh, "-n", "all_table")
    assert run.returncode == 1 and "no rule makes 'all_table'; did you mean all_tables?" in run.stdout
