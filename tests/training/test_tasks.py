"""The groups of a step: what they are, whoever works on them, and what is counted of them."""

import pytest
import torch
from tiny_objectives import HERE, SHAPE, WORDS, recipe

from stele.training import tasks
from stele.training.processes import ProcessContext


class Nothing(torch.nn.Module):
    def forward(self, task, batch, processes):
        return torch.zeros(())

    def figures(self, task):
        return {}


@pytest.mark.parametrize("world", [1, 2, 5])
def test_groups_do_not_depend_on_the_number_of_processes(stores, world):
    """Law of the contrastive group: what shares negatives is the recipe's, on any number of devices."""
    settled = recipe("msm")
    made = tasks.new_tasks(settled, stores, WORDS, 3)
    seen = []

    class Recorder(Nothing):
        def forward(self, task, batch, processes):
            if processes is None or processes.is_main:  # a group that all of them share is the same for each
                seen.append((task, batch["ids"].shape[0], int(batch["ids"].sum())))
            return super().forward(task, batch, processes)

    for step in range(4):
        for rank in range(world):
            process = ProcessContext(torch.device("cpu"), rank, world)
            for named in tasks.losses(made, Recorder(), settled, process, SHAPE).loss_at(step):
                (weight,) = {value[1] for value in named.values() if isinstance(value, tuple)}
                assert weight == pytest.approx(1 / 5 if 5 % world == 0 else 1 / 5 / world)
    assert sorted(task for task, _, _ in seen) == ["mlm"] * 8 + ["msm"] * 12
    alone = []
    for step in range(4):
        for i in range(5):
            second, n = tasks.kind_of(step * 5 + i, 0.4)
            batch = made["mlm" if second else "msm"].batch(n)
            alone.append(("mlm" if second else "msm", len(batch["ids"]), int(batch["ids"].sum())))
    assert sorted(seen) == sorted(alone)


def test_groups_vectors_and_operations_are_counted(stores):
    settled = recipe("msm")
    made, actual = tasks.new_tasks(settled, stores, WORDS, 3), {}

    for step in range(settled.steps):
        for named in tasks.losses(made, Nothing(), settled, HERE, SHAPE).loss_at(step):
            for name, value in named.items():
                if isinstance(value, int):
                    actual[name] = actual.get(name, 0) + value
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
