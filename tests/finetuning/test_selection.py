"""The dev figures, and which weights are kept."""

import numpy as np
import pytest
import torch
from test_groups import examples
from tiny_runs import RECIPE

from stele.errors import SteleError
from stele.finetuning.dual_encoder import selection as selected
from stele.finetuning.dual_encoder.batches import dev_groups
from stele.finetuning.dual_encoder.model import loss_of_vectors
from stele.finetuning.dual_encoder.selection import Selection, Vectors, average_rank, dev_nll
from stele.recipes.finetuning import parse_finetuning
from stele.training.processes import ProcessContext

HERE = ProcessContext(torch.device("cpu"))


class Known:
    """Vectors given by hand in place of encoded ones."""

    def __init__(self, queries, passages):
        self.given = {"query": torch.tensor(queries), "passage": torch.tensor(passages)}
        self.module = type("Module", (), {"scale": None})

    def of(self, kind, rows):
        return self.given[kind][torch.as_tensor(np.asarray(rows))]


def test_average_rank_by_hand():
    #                      query 0 knows 0 and 3; query 1 knows 1; pool: 0, 1, 2 (a hard negative), 4
    data = examples([[0, 3], [1]], [[2], [4, 5]])
    vectors = Known([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 2.0], [3.0, 2.0], [9.0, 0.0], [2.0, 5.0], [0.0, 9.0]])
    # query 0: scores 0: 1, 1: 0, 2: 3, 4: 2 -> two above its positive; query 1: 0: 0, 1: 2, 2: 2 (a tie counts), 4: 5
    assert average_rank(vectors, data, 1) == (2 + 2) / 2
    # with all negatives passage 5 (score 9 for query 1) is in the pool, too
    assert average_rank(vectors, data, 60) == (2 + 3) / 2
    # another known positive in the pool does not count against the question
    data = examples([[0, 3], [1], [3]], [[2], [4], []])
    vectors.given["query"] = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert average_rank(vectors, data, 1) == (2 + 2 + 0) / 3


@pytest.mark.parametrize("broken", ["query", "passage"])
def test_a_tower_whose_vectors_are_not_finite_is_never_the_best(broken):
    class Towers:
        device = torch.device("cpu")

        def vectors(self, tokens, rows, kind, processes):
            return torch.full((len(rows), 2), torch.nan if kind == broken else 1.0)

    data = examples([[0], [1]], [[2], [3]])
    with pytest.raises(SteleError, match=f"the vector of a dev {broken} is not finite"):
        average_rank(Vectors(Towers(), data, "float32", HERE), data, 1)


def test_dev_nll_is_the_mean_over_groups():
    data = examples([[0], [1], [2], [3]], [[4], [5], [6], [7]])
    recipe = parse_finetuning({**RECIPE, "dev_batch": 2})
    generator = torch.Generator().manual_seed(0)
    vectors = Known(torch.randn(4, 3, generator=generator).tolist(), torch.randn(8, 3, generator=generator).tolist())
    groups = dev_groups(data, 2, 1)
    wanted = [
        float(loss_of_vectors(vectors.of("query", g.queries), vectors.of("passage", g.passages), g, 1.0))
        for g in groups
    ]
    assert dev_nll(vectors, groups, recipe) == pytest.approx(sum(wanted) / 2)


def selection(folder, rule, monkeypatch, figures, an_epoch=1):
    """A selection whose measures are given: (nll or rank) after each step; the module's weight is the step."""
    module = torch.nn.Linear(1, 1)
    recipe = parse_finetuning({**RECIPE, "dev_set": "jsonl", "selection": rule})
    chosen = Selection(folder, module, examples([[0], [1]], [[], []]), recipe, an_epoch, HERE)
    monkeypatch.setattr(selected, "dev_nll", lambda *_: figures["nll"][int(module.weight)])
    monkeypatch.setattr(selected, "average_rank", lambda *_: figures["rank"][int(module.weight)])

    def after(step):
        torch.nn.init.constant_(module.weight, step)
        return chosen.measure(step)

    return chosen, after


def test_the_lowest_nll_is_kept_and_the_first_of_equals(tmp_path, monkeypatch):
    chosen, after = selection(tmp_path / "b", "dev_nll", monkeypatch, {"nll": {1: 3.0, 2: 1.0, 3: 2.0, 4: 1.0}})
    assert [after(step) for step in (1, 2, 3, 4)] == [{"dev_nll": v} for v in (3.0, 1.0, 2.0, 1.0)]
    assert chosen.best() == {"phase": 0, "figure": "dev_nll", "value": 1.0, "step": 2}
    chosen.restore()
    assert chosen.module.weight.item() == 2


def test_from_its_epoch_on_the_average_rank_decides_afresh(tmp_path, monkeypatch):
    figures = {"nll": {2: 0.1, 4: 0.5}, "rank": {6: 70.0, 8: 60.0, 10: 65.0}}
    chosen, after = selection(tmp_path / "b", "average_rank_from_epoch_2", monkeypatch, figures, an_epoch=2)
    actual = [after(step) for step in (2, 4, 6, 8, 10)]
    assert [next(iter(f)) for f in actual] == ["dev_nll", "dev_nll", *["dev_average_rank"] * 3]
    assert chosen.best()["step"] == 8
    # killed after step 10 and taken up again from a state of step 2: the same measures, the same choice
    for step in (4, 6, 8, 10):
        after(step)
        assert chosen.best()["step"] == 8
    chosen.restore()
    assert chosen.module.weight.item() == 8


def test_last_keeps_nothing(tmp_path, monkeypatch):
    module = torch.nn.Linear(1, 1)
    recipe = parse_finetuning({**RECIPE, "dev_set": "jsonl", "selection": "last", "evaluate_every": 3})
    chosen = Selection(tmp_path / "b", module, examples([[0], [1]], [[], []]), recipe, 10, HERE)
    monkeypatch.setattr("stele.finetuning.dual_encoder.selection.dev_nll", lambda *_: 1.0)
    assert chosen.every == 3
    assert chosen.measure(3) == {"dev_nll": 1.0}
    assert chosen.best() is None
    chosen.restore()


def test_a_dev_set_of_one_question_is_refused(tmp_path):
    recipe = parse_finetuning({**RECIPE, "dev_set": "jsonl", "selection": "dev_nll"})
    with pytest.raises(SteleError, match="dev set has 1 usable examples"):
        Selection(tmp_path, torch.nn.Linear(1, 1), examples([[0]], [[]]), recipe, 1, HERE)
