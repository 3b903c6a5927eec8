"""The objective that docs/adding/objective.md teaches: one file put into the folder, and it is planned and learns."""

import math
import re

import pytest
from tiny_objectives import OWN, fit, new_stores, recipe

import stele.training.objectives
from stele.training import run_sizes
from tests.conftest import ROOT

SIMCSE = dict(sentences=16, sentence_length=8, temperature=0.05, steps=30, groups=1, mlm_share=0.0)
SIMCSE |= dict(dropout=0.1, learning_rate=1e-2)


@pytest.fixture
def simcse(tmp_path, monkeypatch):
    """Its file, in a folder that is searched as the package's own."""
    page = (ROOT / "docs/adding/objective.md").read_text()
    code = re.search(r"^```python\n# src/stele/training/objectives/simcse.py\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "simcse.py").write_text(code[1])
    monkeypatch.setitem(OWN, "simcse", SIMCSE)
    monkeypatch.setattr(stele.training.objectives, "__path__", [*stele.training.objectives.__path__, str(tmp_path)])


def test_an_objective_of_one_file_is_planned_and_learns(tmp_path, simcse):
    settled = recipe("simcse")
    assert run_sizes.drawn(settled) == {"msm": 30 * 16} and settled.stores_read() == {"msm"}
    _, outcome = fit("simcse", tmp_path / "state", new_stores(tmp_path / "stores"))
    assert outcome["losses"]["simcse"] < math.log(16) - 0.5
    assert outcome["counts"]["vectors_simcse"] == 30 * 16
