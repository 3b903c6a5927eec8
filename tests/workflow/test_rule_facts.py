"""What rules.yaml says of rules and what the rule files say agree."""

import pytest

from stele import catalogue
from stele.catalogue.schema import costs as rule_facts
from stele.catalogue.schema.costs import RuleFacts
from stele.cluster.requests import FORMULAS
from stele.errors import SteleError
from tests.conftest import ROOT
from tests.rule_files import command, local_rules, rules

RULES = rules(ROOT)
FACTS = catalogue.entries(RuleFacts)


@pytest.fixture
def entry(monkeypatch):
    """entry(rule, values): rules.yaml has that entry alone."""

    def put(rule, **values):
        monkeypatch.setattr(catalogue, "load", lambda name: {rule: values})
        catalogue.entries.cache_clear()

    yield put
    catalogue.entries.cache_clear()


def test_entries_and_cost_formulas_have_the_names_of_rules():
    assert FACTS.keys() <= RULES.keys()
    assert FORMULAS.keys() <= RULES.keys()


def test_rules_that_train_or_encode_have_a_cost_formula():
    assert {rule for rule, facts in FACTS.items() if facts.gpus or facts.trains} <= FORMULAS.keys()


def test_all_rules_on_gpus_request_them_and_have_a_command_of_their_name():
    assert {rule for rule, body in RULES.items() if "{resources.gpus}" in body} == set(rule_facts.on_gpus())
    for rule in rule_facts.on_gpus():
        assert command(RULES[rule]).endswith(f".{rule}"), "cluster.yaml and the launcher know it by one name"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"gpu": 1}, "rules.yaml: unknown key 'mine.gpu'; did you mean 'gpus'?"),
        ({"minutes": {"base": 1, "per_dump": 2}}, "mine.minutes"),
        ({"gpus": 0}, "rules.yaml: mine.gpus: Input should be greater than or equal to 1"),
        ({"threads": 2}, "mine.threads"),
    ],
)
def test_a_wrong_entry_is_named(entry, values, message):
    entry("mine", **values)
    with pytest.raises(SteleError) as error:
        catalogue.entries(RuleFacts)
    assert message in str(error.value)


def limits_memory(rule):
    """Whether a rule's command can keep within the memory of its job."""
    if (module := command(RULES[rule])) is None:
        return False
    folder = ROOT / "src" if module.startswith("stele_world.") else ROOT / "src/stele"
    return "    memory_mb: " in (folder / f"{module.replace('.', '/')}.py").read_text()


def test_a_command_that_can_keep_within_its_memory_is_told_how_much_that_is():
    limited = set(filter(limits_memory, RULES))
    assert limited >= {"knowledge_base", "knowledge_pairs"}
    assert not [rule for rule in limited if "--memory-mb {resources.mem_mb}" not in RULES[rule]]


def test_what_needs_the_network_runs_where_the_driver_is():
    local = local_rules(ROOT)
    assert local >= {"alias", "average", "count_parameters", "checkpoint", "dataset", "downloads", "context"}
    assert not local & {"pretrain", "finetune", "retrieve", "mine", "standin"}
