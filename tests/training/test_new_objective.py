"""The objective that docs/adding/objective.md teaches: one file put into the folder, and it is planned and learns."""

import math
import re

import pytest
import torch
from tiny_objectives import SHAPE, SMALL, WORDS, model, module_of, new_stores

import stele.training.objectives
from stele.recipes.pretraining import parse_recipe
from stele.training import run_sizes, tasks
from stele.training.loop import train
from stele.training.processes import ProcessContext
from tests.conftest import ROOT

SIMCSE = dict(sentences=16, sentence_length=8, temperature=0.05, steps=30, groups=1, mlm_share=0.0)
SIMCSE |= dict(dropout=0.1, learning_rate=1e-2)


@pytest.fixture
def simcse(tmp_path, monkeypatch):
    """Its file, in a folder that is searched as the package's own."""
    page = (ROOT / "docs/adding/objective.md").read_text()
    code = re.search(r"^```python\n# src/stele/training/objectives/simcse.py\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "simcse.py").write_text(code[1])
    monkeypatch.setattr(stele.training.objectives, "__path__", [*stele.training.objectives.__path__, str(tmp_path)])


def test_an_objective_of_one_file_is_planned_and_learns(tmp_path, simcse):
    recipe = parse_recipe({"objective": "simcse", **SMALL, **SIMCSE})
    assert run_sizes.drawn(recipe) == {"msm": 30 * 16} and recipe.stores_read() == {"msm"}
    made = tasks.new_tasks(recipe, new_stores(tmp_path / "stores"), WORDS, 3)
    module, process = module_of(made, model("bert")), ProcessContext(torch.device("cpu"))
    batches = tasks.losses(made, module, recipe, process, SHAPE)
    outcome = train(module, batches, recipe, state=tmp_path / "state", seed=1, process=process)
    assert outcome["losses"]["simcse"] < math.log(16) - 0.5
    assert outcome["counts"]["vectors_simcse"] == 30 * 16
