"""What rules.yaml says of rules and what the rule files say agree."""

import doctest

import pytest

from stele import catalogue
from stele.catalogue.schema import costs as rule_facts
from stele.catalogue.schema.costs import RuleFacts
from stele.cluster.requests import FORMULAS
from stele.errors import SteleError
from tests.conftest import ROOT
from tests.rule_files import command, rules

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


def test_the_examples_in_the_docstrings_hold():
    outcome = doctest.testmod(rule_facts)
    assert outcome.attempted and not outcome.failed


@pytest.mark.parametrize("rule", FACTS)
def test_an_entry_names_a_rule_that_exists(rule):
    assert rule in RULES


@pytest.mark.parametrize("rule", FORMULAS)
def test_a_cost_formula_has_the_name_of_a_rule(rule):
    assert rule in RULES


@pytest.mark.parametrize("rule", [rule for rule, facts in FACTS.items() if facts.gpus or facts.trains])
def test_a_rule_that_trains_or_encodes_has_a_cost_formula(rule):
    assert rule in FORMULAS


@pytest.mark.parametrize("rule", [rule for rule, body in RULES.items() if "{resources.gpus}" in body])
def test_a_rule_that_requests_gpus_has_an_entry_and_a_command_of_its_name(rule):
    assert rule in rule_facts.on_gpus()
    assert command(RULES[rule]).endswith(f".{rule}"), "cluster.yaml and the launcher know it by one name"


def test_all_rules_on_gpus_request_them():
    assert {rule for rule, body in RULES.items() if "{resources.gpus}" in body} == set(rule_facts.on_gpus())


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
