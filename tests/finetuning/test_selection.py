"""The dev figures, and which weights are kept."""

import numpy as np
import pytest
import torch
from test_groups import examples, recipe_of

from stele.errors import SteleError
from stele.finetuning.dual_encoder.model import loss_of_vectors
from stele.finetuning.dual_encoder.selection import Selection
from stele.training.processes import ProcessContext

HERE = ProcessContext(torch.device("cpu"))


class Known(Selection):
    def __init__(self, data, queries, passages, **changes):
        module = torch.nn.Module()
        module.scale = None
        super().__init__(None, module, data, recipe_of(**changes), 1, HERE)
        self.given = {"query": torch.tensor(queries), "passage": torch.tensor(passages)}

    def vectors(self, kind, rows):
        return self.given[kind][torch.as_tensor(np.asarray(rows))]


PASSAGES = [[1.0, 0.0], [0.0, 2.0], [3.0, 2.0], [9.0, 0.0], [2.0, 5.0], [0.0, 9.0]]


@pytest.mark.parametrize(("negatives", "ranks"), [(1, 2 + 2), (60, 2 + 3)])
def test_average_rank_by_hand(negatives, ranks):
    """Query 0 knows 0 and 3; query 1 knows 1; in the pool are 0, 1, 2 (a hard negative), 4, and 5 with all negatives.

    Query 0 scores 0: 1, 1: 0, 2: 3, 4: 2, so two are above its positive; query 1 0: 0, 1: 2, 2: 2 (a tie counts), 4: 5,
    5: 9.
    """
    data = examples([[0, 3], [1]], [[2], [4, 5]])
    assert Known(data, [[1.0, 0.0], [0.0, 1.0]], PASSAGES, dev_negatives=negatives).average_rank() == ranks / 2


def test_another_known_positive_in_the_pool_does_not_count_against_the_question():
    data = examples([[0, 3], [1], [3]], [[2], [4], []])
    queries = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    assert Known(data, queries, PASSAGES, dev_negatives=1).average_rank() == (2 + 2 + 0) / 3


@pytest.mark.parametrize("broken", ["query", "passage"])
def test_a_tower_whose_vectors_are_not_finite_is_never_the_best(broken):
    class Towers:
        device = torch.device("cpu")

        def vectors(self, tokens, rows, kind, processes):
            return torch.full((len(rows), 2), torch.nan if kind == broken else 1.0)

    chosen = Selection(None, Towers(), examples([[0], [1]], [[2], [3]]), recipe_of(), 1, HERE)
    with pytest.raises(SteleError, match=f"the vector of a dev {broken} is not finite"):
        chosen.average_rank()


def test_dev_nll_is_the_mean_over_groups():
    data = examples([[0], [1], [2], [3]], [[4], [5], [6], [7]])
    generator = torch.Generator().manual_seed(0)
    queries, passages = (torch.randn(n, 3, generator=generator).tolist() for n in (4, 8))
    chosen = Known(data, queries, passages, dev_batch=2)
    wanted = [
        float(loss_of_vectors(chosen.vectors("query", g.queries), chosen.vectors("passage", g.passages), g, 1.0))
        for g in chosen.groups
    ]
    assert len(wanted) == 2 and chosen.dev_nll() == pytest.approx(sum(wanted) / 2)


def test_the_dev_loss_has_as_many_hard_negatives_as_training():
    """Each query scores 1 with every passage: three candidates of its own and three of the other query."""
    data = examples([[0], [1]], [[2, 3, 6], [4, 5, 7]])
    chosen = Known(data, [[1.0, 0.0]] * 2, [[1.0, 0.0]] * 8, hard_negatives=2)
    assert chosen.dev_nll() == pytest.approx(np.log(6))


def selection(folder, rule, monkeypatch, figures, an_epoch=1, **changes):
    """A selection whose measures are given: (nll or rank) after each step; the module's weight is the step."""
    module, data = torch.nn.Linear(1, 1), examples([[0], [1]], [[], []])
    chosen = Selection(folder, module, data, recipe_of(dev_set="jsonl", selection=rule, **changes), an_epoch, HERE)
    monkeypatch.setattr(chosen, "dev_nll", lambda: figures["nll"][int(module.weight)])
    monkeypatch.setattr(chosen, "average_rank", lambda: figures["rank"][int(module.weight)])

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
    (tmp_path / "b/weights.safetensors").write_bytes(b"")
    with pytest.raises(SteleError, match=r"weights\.safetensors: not a readable safetensors file .*; delete"):
        chosen.restore()


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
    chosen, after = selection(tmp_path / "b", "last", monkeypatch, {"nll": {3: 1.0}}, an_epoch=10, evaluate_every=3)
    assert chosen.every == 3 and after(3) == {"dev_nll": 1.0}
    assert chosen.best() is None
    chosen.restore()


def test_one_dev_question_is_judged_by_its_hard_negative():
    chosen = Known(examples([[0]], [[1]]), [[1.0, 0.0]], [[1.0, 0.0]] * 2)
    assert chosen.dev_nll() == pytest.approx(np.log(2)) and chosen.without_second_candidate == 0


def test_a_dev_set_of_one_question_is_refused(tmp_path):
    with pytest.raises(SteleError, match="dev set has 1 usable examples"):
        Selection(tmp_path, torch.nn.Linear(1, 1), examples([[0]], [[]]), recipe_of(), 1, HERE)
