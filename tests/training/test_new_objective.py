"""An objective that CONTRIBUTING.md teaches: two files put into the folders, and it trains."""

import math
import re

import pytest
import torch
from tiny_objectives import SHAPE, SMALL, WORDS, model, new_stores

import stele.recipes.objectives
import stele.training.objectives
from stele.recipes.pretraining import parse_recipe
from stele.training import draws, tasks
from stele.training.loop import train
from stele.training.processes import ProcessContext
from tests.conftest import ROOT

SIMCSE = dict(sentences=16, sentence_length=8, temperature=0.05, steps=30, groups=1, mlm_share=0.0)
SIMCSE |= dict(dropout=0.1, learning_rate=1e-2)


@pytest.fixture
def simcse(tmp_path, monkeypatch):
    """Its two files, in folders that are searched as the package's own."""
    for package in (stele.recipes.objectives, stele.training.objectives):
        folder = tmp_path / package.__name__
        folder.mkdir()
        path = re.escape(f"src/{package.__name__.replace('.', '/')}/simcse.py")
        code = re.search(rf"^```python\n# {path}\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
        (folder / "simcse.py").write_text(code[1])
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])


def test_an_objective_of_two_files_is_planned_and_learns(tmp_path, simcse):
    recipe = parse_recipe({"objective": "simcse", **SMALL, **SIMCSE})
    assert draws.drawn(recipe) == {"msm": 30 * 16} and recipe.stores_read() == {"msm"}
    made = tasks.new_tasks(recipe, new_stores(tmp_path / "stores"), WORDS, 3)
    module = tasks.Pretraining.of(model("bert"), {name: task.objective.Heads for name, task in made.items()}, recipe, 3)
    process = ProcessContext(torch.device("cpu"))
    batches = tasks.losses(made, module, recipe, process, SHAPE)
    outcome = train(module, batches, recipe.optimisation(), state=tmp_path / "state", seed=1, process=process)
    assert outcome["losses"]["simcse"] < math.log(16) - 0.5
    assert outcome["counts"]["vectors_simcse"] == 30 * 16
