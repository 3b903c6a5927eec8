"""The worked example of docs/tables.md is a valid spec and renders; its commands and states are those that exist."""

from __future__ import annotations

import re

import pytest

from stele.command.cli import commands
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
