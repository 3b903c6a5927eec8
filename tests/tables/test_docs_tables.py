"""The worked example of docs/tables.md is a valid spec and renders; its commands and states are those that exist."""

import re
import shutil
from pathlib import Path

import pytest

from stele.command import cli
from stele.command.cli import commands
from stele.config.model import parse_config
from stele.plan.plan import Plan
from stele.tables.values.lookup import STATES


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs/tables.md").read_text(encoding="utf-8")


def test_the_worked_example_asks_for_what_the_text_says(page, bench):
    table = bench.spec(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1])
    bench.result("xlmr", {"sw": 0.25, "te": 0.5}, setting="zero_shot_nq")
    cells = bench.cells(table)
    first = cells["xlmr/mrr/sw"]
    assert first.reference.result == ("mrtydi", "xlmr", "zero_shot_nq") and first.reference.metric == "mrr@100"
    assert first.printed.value == 21.0 and first.outcome.value == 0.25
    assert cells["xlmr/mrr/avg"].outcome.value == 0.375
    assert cells["elsewhere/recall/te"].outcome.state == "borrowed"
    assert cells["elsewhere/recall/sw"].printed.value == "fail"


def test_the_states_and_commands_are_those_that_exist(page):
    assert re.findall(r"^\| ([a-z ]+) \| ", page, re.MULTILINE)[1:] == list(STATES)
    named = set(re.findall(r"^stele tables (\w+)", page, re.MULTILINE))
    assert named <= commands("tables").keys()


def test_the_table_and_the_figure_of_the_adding_page_are_planned_checked_and_drawn(root, tmp_path, monkeypatch, capsys):
    shutil.copytree(root / "paper_tables", tmp_path / "paper_tables")
    page = (root / "docs/adding/table.md").read_text(encoding="utf-8")
    for name, body in re.findall(r"```yaml\n# (\S+)\n(.*?)```", page, re.DOTALL):
        (tmp_path / name).write_text(body, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["tables", "check", "--specs", "paper_tables/msm"]) == 0
    assert "msm/90: 6 cells: 6 numbers" in capsys.readouterr().out
    assert cli.main(["tables", "table", "--spec", "paper_tables/msm/table_90.yaml"]) == 0
    assert "| XLM-R " in Path("results/tables/msm/table_90.md").read_text(encoding="utf-8")
    assert cli.main(["tables", "figure", "--spec", "paper_tables/msm/figure_90.yaml", "--output", "figure.svg"]) == 0
    assert "MSM, figure 90" in Path("figure.svg").read_text(encoding="utf-8")
    plan = Plan(parse_config({"scale": "miniature", "papers": ["msm"]}))
    rows = {f"mrtydi/{model}/direct" for model in ("xlmr", "msm")}
    assert {row.path for row in plan.tables.rows_of("msm/90")} == rows
    assert "results/tables/msm/figure_90.svg" in plan.figures.files()
