"""Folds, draws, losses and the choice of an epoch."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from made_clef import folds_cover, read_made_vectors

from stele.errors import SteleError
from stele.evaluation.folds import folds_by_hash
from stele.recipes.reranking import parse_recipe
from stele.reranking.folds import cross_validation
from stele.reranking.folds.cross_validation import Fold, loss_of, parts, scored, training_pairs
from stele.reranking.scorers import Sources, knrm

RECIPE = parse_recipe({"scorer": "knrm", "kernels": 3, "batch": 3, "epochs": 3, "learning_rate": 0.05})


# --- folds ---
def test_folds_partition_the_topics_and_no_test_topic_trains(judged):
    fold_of = folds_by_hash(judged.topics, "0 de ")
    folds = parts(judged.topics, fold_of, "here")
    assert folds_cover(fold_of)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(len(judged.topics)))
    for fold in folds:
        assert sorted(np.concatenate(fold[1:])) == list(range(len(judged.topics)))  # each topic in one part
        assert set(fold.dev) == set(folds[(fold.number + 1) % 5].test)
        rows = np.concatenate(training_pairs(judged, fold, 0, 0))
        assert not set(judged.topic_of[rows]) & {*fold.dev, *fold.test}


def test_a_fold_without_a_topic_is_refused():
    with pytest.raises(SteleError, match="here: fold 0 has no topic for test"):
        parts(["1", "2"], {"1": 1, "2": 2}, "here")


# --- pairs ---
def test_each_relevant_document_has_a_drawn_negative_of_its_topic(judged):
    fold = Fold(2, np.arange(7), np.arange(7, 9), np.arange(9, 11))
    relevant, negative = training_pairs(judged, fold, 0, 0)
    assert sorted(relevant) == [4 * n for n in range(7)] and not judged.relevant[negative].any()
    assert (judged.topic_of[relevant] == judged.topic_of[negative]).all()
    assert np.array_equal(training_pairs(judged, fold, 0, 0), (relevant, negative))
    whole = dict(zip(relevant, negative, strict=True))
    assert dict(zip(*training_pairs(judged, fold, 0, 1), strict=True)) != whole, "each epoch draws anew"
    # a topic's draws do not depend on the other topics of its fold
    fewer = dict(zip(*training_pairs(judged, fold._replace(train=np.arange(3)), 0, 0), strict=True))
    assert fewer == {row: whole[row] for row in fewer} and len(fewer) == 3


def test_a_fold_without_a_negative_is_an_error(judged):
    alone = replace(judged, relevant=np.ones(len(judged), bool))
    with pytest.raises(SteleError, match="fold 0: no training topic has both relevant and non-relevant"):
        training_pairs(alone, Fold(0, np.arange(3), np.arange(1), np.arange(1)), 0, 0)


# --- losses ---
def test_pairwise_loss():
    scores = torch.tensor([[2.0], [0.5], [1.0], [-1.5]])  # S+ 2 and .5, S- 1 and -1.5
    expected = [np.log1p(np.exp(-1)), np.log1p(np.exp(-2))]
    assert float(loss_of(scores, "pairwise")) == pytest.approx(np.mean(expected))


def test_pointwise_loss_is_of_two_classes_a_document():
    logits = torch.tensor([[0.0, 2.0], [1.0, 0.0]])  # the relevant document, the other
    expected = [np.log1p(np.exp(-2.0)), np.log1p(np.exp(-1.0))]
    assert float(loss_of(logits, "pointwise")) == pytest.approx(np.mean(expected))


# --- a fold ---
def trained(judged, folder, recipe=RECIPE):
    scorer = knrm.Scorer(judged, recipe, Sources("en", "de", None, read_made_vectors, lambda: iter(())))
    folds, how = folds_by_hash(judged.topics, "0 de "), {"seed": 0, "state": folder, "label": "here"}
    return cross_validation.cross_validate(scorer.new_module, judged, folds, recipe, **how)


def test_each_fold_begins_with_weights_of_its_own(judged, tmp_path, monkeypatch):
    seeds, new_module = [], knrm.Scorer.new_module
    monkeypatch.setattr(knrm.Scorer, "new_module", lambda self, seed: seeds.append(seed) or new_module(self, seed))
    trained(judged, tmp_path)
    assert len({*seeds}) == len(seeds) == 5


def test_the_epoch_with_the_best_map_on_dev_is_taken_from_the_first_that_counts(judged, tmp_path, monkeypatch):
    values = iter([0.4, 0.4, 0.3] * 5)
    monkeypatch.setattr(type(judged), "mean_ap", lambda *given: next(values))
    outcomes = trained(judged, tmp_path / "a")
    assert [outcome.epoch for outcome in outcomes] == [1] * 5, "of equal ones the first"
    assert outcomes[0].dev_map == {1: 0.4, 2: 0.4, 3: 0.3}
    values = iter([0.2, 0.3] * 5)
    late = trained(judged, tmp_path / "b", RECIPE.model_copy(update={"dev_from_epoch": 2}))
    assert late[0].dev_map == {2: 0.2, 3: 0.3} and late[0].epoch == 3


def test_the_weights_of_the_best_epoch_score_the_test_topics(judged, tmp_path, monkeypatch):
    """An epoch that is the best gives the scores of a run that ends with it."""
    values = iter([0.4, 0.5, 0.3] * 5)
    monkeypatch.setattr(type(judged), "mean_ap", lambda *given: next(values))
    chosen = trained(judged, tmp_path / "a")
    values = iter([0.4, 0.5] * 5)
    shorter = trained(judged, tmp_path / "b", RECIPE.model_copy(update={"epochs": 2}))
    for one, other in zip(chosen, shorter, strict=True):
        assert one.scores == other.scores and one.epoch == other.epoch == 2


def test_finished_folds_are_not_run_again(judged, tmp_path, monkeypatch):
    first = trained(judged, tmp_path)
    monkeypatch.setattr(cross_validation, "run_fold", lambda *given, **more: pytest.fail("run again"))
    again = trained(judged, tmp_path)
    for one, other in zip(first, again, strict=True):
        assert one.model_copy(update={"earlier": other.earlier}) == other
        assert one.earlier == (0.0, 0.0) and min(other.earlier) > 0  # the run before
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"fold{n}.json" for n in range(5)]


def test_a_score_that_is_not_finite_is_an_error(judged):
    phi = np.full((len(judged), 4), np.nan, np.float32)
    module = knrm.Network(phi, RECIPE)
    with pytest.raises(SteleError, match="training diverged"):
        scored(module, np.arange(3))
