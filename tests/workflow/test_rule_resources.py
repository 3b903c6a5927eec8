"""A command that can keep within its job's memory is told how much that is."""

import pytest

from tests.conftest import ROOT
from tests.rule_files import command, rules

RULES = {rule: body for rule, body in rules(ROOT).items() if command(body)}


def limits_memory(rule):
    module = command(RULES[rule])
    folder = ROOT / "src" if module.startswith("stele_world.") else ROOT / "src/stele"
    return "    memory_mb: " in (folder / f"{module.replace('.', '/')}.py").read_text()


@pytest.mark.parametrize("rule", filter(limits_memory, RULES))
def test_a_command_is_told_the_memory_of_its_job(rule):
    assert "--memory-mb {resources.mem_mb}" in RULES[rule]


def test_the_joins_limit_their_memory():
    assert {"knowledge_base", "knowledge_pairs"} <= set(filter(limits_memory, RULES))
