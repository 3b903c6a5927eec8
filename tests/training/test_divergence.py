"""When a run of any objective is said to have learnt nothing; CCP's own tables are in test_ccp.py."""

import math

import pytest
import torch
from tiny_objectives import WORDS, WithHeads, model, objective_of, on_cpu, recipe

from stele.training import tasks

FOUND = {"accuracy": 0.6, "guess": 0.1, "cosine": 0.999}
LUCK = {"accuracy": 0.14, "guess": 0.1, "cosine": 0.5}


def rows(task, loss, figures, spread):
    start = {f"{task}_cosine": 1 - spread} if figures else {}
    values = {task: loss, **{f"{task}_{name}": value for name, value in figures.items()}}
    return [values | start] * 10 + [values] * 10


@pytest.mark.parametrize(
    ("objective", "loss", "figures", "spread", "reason"),
    [
        ("msm", 2.4, LUCK, 0.5, "the loss is 2.400, above chance (2.303), over the last tenth of the steps, and"),
        ("msm", 2.4, FOUND, 0.5, None),  # a low temperature: the right one is found by far
        ("msm", 2.2, LUCK, 0.5, None),  # little learnt, nothing broken
        ("crop", 2.2, LUCK | {"cosine": 0.995}, 0.2, "vectors of different sentences have cosine 0.995 over"),
        ("crop", 2.2, LUCK | {"cosine": 0.995}, 0.02, None),  # they were alike before, as XLM-R's are
        ("ict", 2.2, FOUND, 0.5, None),  # a checkpoint's vectors may be alike and still tell texts apart
        ("mlm", 2.4, {}, 0.5, "the loss is 2.400, above chance (2.303), over the last tenth of the steps"),
        ("mlm", 2.2, {}, 0.5, None),
        ("clir", 2.4, {"accuracy": 0.5}, 0.5, "random guessing: 0.500"),
    ],
)
def test_the_verdict_of_each_objective(objective, loss, figures, spread, reason):
    task = "rr" if objective == "clir" else objective
    found = objective_of(recipe(objective), task).diverged(rows(task, loss, figures, spread), task, math.log(10))
    assert found is None if reason is None else reason in found


@pytest.mark.parametrize("objective", ["msm", "crop", "ict", "kept"])
def test_an_encoder_that_has_collapsed_is_noticed_in_the_figures(stores, objective, monkeypatch):
    settled = recipe(objective)
    task = settled.own_tasks()[0]
    made = tasks.new_tasks(settled, stores, WORDS, 3)[task]
    healthy = WithHeads(made.objective, encoder := model("bert"))
    batch = on_cpu(made.batch(0))
    healthy(encoder, batch)
    before = {task: 2.0, f"{task}_cosine": made.objective.figures["cosine"].item()}
    width = encoder.config.hidden_size
    monkeypatch.setattr(made.objective, "sentence_states", lambda model, ids, *_: torch.ones(len(ids), width))
    loss = healthy(encoder, batch).item()
    figures = {f"{task}_{name}": value.item() for name, value in made.objective.figures.items()}
    assert "have cosine 1.000" in made.objective.diverged([before, {task: loss, **figures}], task, 9.0)
