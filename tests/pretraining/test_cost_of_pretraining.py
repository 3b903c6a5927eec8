"""The estimate of a pretraining's operations beside what a real one counts in its own batches."""

import json

import pytest
from pretrain_runs import OWN, SMALL, arguments

from stele import catalogue
from stele.artifacts.records import read_record
from stele.catalogue.schema.costs import Costs
from stele.cluster import training_costs
from stele.command.cli import main
from stele.recipes.flops import Shape
from stele.recipes.pretraining import parse_recipe

FACTOR = 1.5
# texts here have 3 to 8 tokens and two special ones, crops at most half of that
LENGTHS = {"moco": {"length": 6}, "kept": {"length": 8}}


@pytest.mark.parametrize("objective", list(OWN))
def test_an_estimate_is_near_what_the_record_counts(tmp_path, base, pairs, objective, capsys):
    values = {"mlm_length": 10, **LENGTHS.get(objective, {})}
    assert main(arguments(tmp_path, base, pairs, objective=objective, **values)) == 0, capsys.readouterr().err
    record = read_record(tmp_path / "out/record.json")
    config = json.loads((tmp_path / "out/config.json").read_text())
    sizes = ("num_hidden_layers", "hidden_size", "intermediate_size", "vocab_size")
    values = {"objective": objective, **SMALL, **OWN[objective], **values}
    shape = Shape(*(config[name] for name in sizes))
    actual, steps = training_costs.pretraining_operations(parse_recipe(values), shape, catalogue.whole(Costs).fill)
    assert steps == record["steps"]
    assert 1 / FACTOR < actual / record["arithmetic"]["flops"] < FACTOR
