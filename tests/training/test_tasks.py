"""The groups of a step: what they are, how much they weigh, and what is counted of them."""

import pytest
import torch
from tiny_objectives import HERE, SHAPE, WORDS, recipe

from stele.training import tasks


class Nothing(torch.nn.Module):
    def forward(self, task, batch, processes):
        return torch.zeros(())

    def figures(self, task):
        return {}


def test_groups_vectors_and_operations_are_counted(stores):
    settled = recipe("msm")
    made, actual = tasks.new_tasks(settled, stores, WORDS, 3), {}

    for step in range(settled.steps):
        for named in tasks.losses(made, Nothing(), settled, HERE, SHAPE).loss_at(step):
            for name, value in named.items():
                if isinstance(value, int):
                    actual[name] = actual.get(name, 0) + value
                else:
                    assert value[1] == 1 / 5, "the weight of a group"
    assert (actual["groups_msm"], actual["groups_mlm"]) == (12, 8)
    groups = {name: [task.batch(n) for n in range(actual[f"groups_{name}"])] for name, task in made.items()}
    assert actual["vectors_msm"] == sum(sum(group["counts"]) for group in groups["msm"]) < 12 * 3 * 4
    assert "vectors_mlm" not in actual
    spent = sum(made[name].objective.flops(group, SHAPE) for name in groups for group in groups[name])
    assert actual["flops"] == pytest.approx(spent, rel=1e-6)


def test_mlm_alone_fills_all_groups(stores):
    settled = recipe("mlm")
    assert list(tasks.new_tasks(settled, stores, WORDS, 3)) == ["mlm"]
    assert list(tasks.new_tasks(recipe("msm", mlm_share=0.0), stores, WORDS, 3)) == ["msm"]
    assert list(tasks.new_tasks(recipe("ict", mlm_share=0.0), stores, WORDS, 3)) == ["ict"]
