"""KEPT: equation 4 by hand, one group of each task a step, and that it learns."""

import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tiny_objectives import HERE, SHAPE, WORDS, objective_of, on_cpu, recipe, setup

from stele.recipes.pretraining import parse_recipe
from stele.training import run_sizes, tasks
from stele.training.sampling import Group, generator
from stele.training.store import Store, write_store


def pair_store(folder, pairs):
    folder.mkdir(parents=True, exist_ok=True)
    write_store(folder, [[np.array(side) for side in pair] for pair in pairs])
    return Store(folder)


class Given(torch.nn.Module):
    """An "encoder" whose token states are a table: the vector of a text is the mean of its tokens' rows."""

    def __init__(self, table):
        super().__init__()
        self.table = table
        self.base_model = lambda input_ids, attention_mask: type("Out", (), {"last_hidden_state": table[input_ids]})
        self.config = self.base_model.config = SimpleNamespace(pad_token_id=WORDS.pad)


def test_equation_4_by_hand(tmp_path):
    """Three pairs of one-token texts; special tokens have zero states, so a vector is a third of its token's row."""
    store = pair_store(tmp_path, [([10], [20]), ([11], [21]), ([12], [22])])
    settled = recipe("kept", tasks=["ilk"], groups=1, pairs=3, temperature=0.5)
    objective = objective_of(settled)
    made = objective.batch(store.take(np.arange(3)), WORDS, Group(0, []), generator(0))
    table = torch.zeros(90, 2)
    table[10:13] = 3 * torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    table[20:23] = 3 * torch.tensor([[0.5, 0.0], [0.0, 2.0], [0.5, 0.5]])
    found = objective.loss(None, Given(table), on_cpu(made))
    inner = [[0.5, 0.0, 0.5], [0.0, 2.0, 0.5], [0.5, 2.0, 1.0]]  # of query i and passage j, not normalised
    losses = [math.log(sum(math.exp(s / 0.5) for s in row)) - row[i] / 0.5 for i, row in enumerate(inner)]
    assert found.item() == pytest.approx(sum(losses) / 3, abs=1e-6)
    columns = list(zip(*inner, strict=True))
    other_way = [math.log(sum(math.exp(s / 0.5) for s in c)) - c[i] / 0.5 for i, c in enumerate(columns)]
    assert abs(sum(losses) - sum(other_way)) > 0.3, "from queries to passages only"
    assert (made["vectors"], made["duplicates"]) == (3, 0) and objective.negatives(3) == 2


def test_each_task_reads_its_store_once_a_step(stores):
    settled = recipe("kept", groups=6)
    assert settled.stores_read() == {"mlm", "ilk", "clk"}
    assert recipe("kept", tasks=["ds_clk"], groups=1).stores_read() == {"ds_clk"}
    made = tasks.new_tasks(settled, stores, WORDS, 3)
    parts = {name: set(task.stores) for name, task in made.items()}
    assert parts == {"crop": {"en", "sw"}, "ilk": {"en", "sw"}, "clk": {"en-sw", "en-th", "sw-th"}}
    for step in range(4):
        groups = Counter(tasks.scheduled(step * 6 + i, settled)[0] for i in range(6))
        assert groups == {"crop": 2, "ilk": 2, "clk": 2}
    numbers = [tasks.scheduled(j, settled) for j in range(24)]
    assert [n for name, n in numbers if name == "clk"] == list(range(8)), "every group of a task once, in order"


def test_the_loss_is_the_mean_over_tasks(stores):
    settled, made, module = setup("kept", stores)
    named = list(tasks.losses(made, module, settled, HERE, SHAPE).loss_at(1))
    assert [name for one in named for name in one if name in made] == ["crop", "ilk", "clk"]
    assert all(value[1] == 1 / 3 for one in named for value in one.values() if isinstance(value, tuple))
    expected = run_sizes.per_step(settled, made, SHAPE)
    assert sum(one["flops"] for one in named) == pytest.approx(expected, rel=0.1)


def test_a_group_mixes_parts_and_crops_come_anew(stores):
    made = tasks.new_tasks(recipe("kept", pairs=12), stores, WORDS, 3)
    assert {part for part, _ in made["clk"].sampler.draw(0)} == {"en-sw", "en-th", "sw-th"}
    alone = tasks.new_tasks(recipe("kept", pairs=12, mixing="one_language"), stores, WORDS, 3)
    assert all(len(alone["clk"].sampler.draw(n)) == 1 for n in range(5))
    crops = made["crop"]
    crops.sampler.draw = lambda n: [("en", np.arange(12))]  # the same stretches in every group
    first, second = crops.batch(0), crops.batch(1)
    assert first["query_ids"].tolist() != second["query_ids"].tolist()
    assert crops.batch(0)["query_ids"].tolist() == first["query_ids"].tolist()


def test_groups_follow_from_the_tasks():
    values = recipe("kept").model_dump(exclude={"groups"})
    assert parse_recipe(values).groups == 3
    assert parse_recipe({**values, "tasks": ["crop", "ilk", "clk", "clhed"]}).groups == 4
