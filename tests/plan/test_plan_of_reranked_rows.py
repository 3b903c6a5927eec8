"""Rows of re-ranking: a job a pair of languages, what it reads, where CLEF is not there, what it costs."""

import json

import pytest

from stele.artifacts.row import Row
from stele.config.model import parse_config
from stele.cost.rules import work
from stele.errors import SteleError
from stele.plan.plan import make_plan

ROW = Row("clef", "xlmr", "cv5")
SEEDS = "pt0-ft0"


def plan(scale="miniature", **more):
    return make_plan(parse_config({"scale": scale, **more}))


def test_each_pair_in_scale_is_a_job_and_the_row_joins_them():
    of = plan()
    assert of.rows.problem(ROW) is None
    pairs = [path.split("/")[-2] for path in of.rows.inputs(ROW, SEEDS)["pairs"]]
    codes = set(of.settings.sizes.languages)
    assert pairs == [p for p in of.data.benchmark("clef").languages if {*p.split("-")} <= codes] and "en-fr" in pairs
    kind = of.rows.kind(ROW)
    inputs = kind.pair_inputs(ROW, SEEDS, "en-fr")
    assert inputs == {"encoder": of.paths.checkpoint("xlmr"), "data": [of.paths.dataset("clef", "all")]}
    with pytest.raises(SteleError, match="not in scale: ja-fr is not among"):
        kind.pair_inputs(ROW, SEEDS, "ja-fr")


def test_seeds_are_those_of_fine_tuning_by_which_folds_are_dealt():
    of = plan(seeds={"pretraining": [0], "finetuning": [0, 1]})
    assert of.rows.seeds(ROW) == ["pt0-ft0", "pt0-ft1"]


def test_a_scale_forces_keys_of_the_recipe_and_the_paper_s_has_none():
    small, paper = (plan(scale).rows.kinds.get("reranked") for scale in ("miniature", "paper"))
    assert small.recipe(ROW).tuned_layers == 1 and paper.recipe(ROW).tuned_layers == 3
    code = json.loads(paper.as_json(ROW._replace(setting="cv5_code")))
    assert (code["loss"], code["reset_layers"], code["dev_from_epoch"]) == ("pointwise", 0, 11)


def test_without_clef_a_row_is_unavailable_and_says_how_to_get_it(tmp_path):
    state, reason = plan("paper").rows.problem(ROW)
    assert state == "unavailable" and "user_data: {clef" in reason
    with pytest.raises(SteleError, match="unavailable"):
        plan("paper").rows.kind(ROW).pair_inputs(ROW, SEEDS, "en-de")
    of = plan("paper", user_data={"clef": str(tmp_path)})
    assert of.rows.problem(ROW) is None and len(of.rows.inputs(ROW, SEEDS)["pairs"]) == 12


def test_the_cost_of_a_job_is_that_of_its_pairs_and_of_what_is_scored(tmp_path):
    """20 epochs of 5 folds: 3/5 of 177 x 29 pairs each, 358 documents of each topic scored after each and once more."""
    of = plan("paper", user_data={"clef": str(tmp_path)})
    job = work(of, "rerank", {"benchmark": "clef", "model": "xlmr", "setting": "cv5", "seeds": SEEDS, "part": "en-de"})
    assert job.steps == 20 * 5 * 177 * 29 * 3 // 5 // 10
    layers = 12 * 8 * 768**2 + 12 * 4 * 768 * 3072  # operations of all layers for one token, attention left out
    trained, scored = 2 * 20 * 3 * 177 * 29, 21 * 177 * 358
    assert job.flops["training"] == pytest.approx(trained * 1.5 * 512 * layers, rel=0.15)
    assert job.flops["encoding"] == pytest.approx(scored * 420 * layers, rel=0.15)
