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


def pairs(of, model):
    return [path.split("/")[-2] for path in of.rows.inputs(Row("clef", model, "cv5"), SEEDS)["pairs"]]


def test_only_the_pairs_that_tables_and_figures_show_of_a_model_are_ranked():
    """Table 4 has 12, table 8 two, figures 4 and 5 two; of a model that none shows all are, as of one of the user's."""
    own = {"base": "mbert_uncased", "recipe": "clir_rr"}
    of = plan(models={"mine": {**own, "tables": ["clir_lm/8"]}, "other": own})
    assert len(pairs(of, "xlmr")) == len(pairs(of, "mbert_gsw_qlm_rr_20")) == len(pairs(of, "other")) == 12
    assert pairs(of, "mbert_rr_5") == pairs(of, "mbert_qlm_both_20") == ["de-es", "en-de"]
    assert pairs(of, "mbert_gsw_qlm_rr_en_fr_w128") == pairs(of, "mine") == ["en-fr", "fr-en"]
    assert of.rows.languages(Row("clef", "mbert_rr_5", "cv5")) == ["de-es", "en-de"]
    assert pairs(plan(papers=["msm"]), "mbert_rr_5") == ["de-es", "en-de"], "whatever else is built"
    german = plan(languages=["de", "es"])
    assert pairs(german, "mbert_rr_5") == ["de-es"] and pairs(german, "xlmr") == ["de-es", "es-de"]
    state, reason = german.rows.problem(Row("clef", "mbert_gsw_qlm_rr_en_fr_w32", "cv5"))
    assert state == "not in scale" and "no pair of clef is built" in reason
    of.rows.kind(ROW).pair_inputs(Row("clef", "mbert_rr_5", "cv5"), SEEDS, "fr-de")  # by its own name each can be had


def test_a_model_with_windows_of_attention_reads_a_length_of_its_own():
    for scale, lengths in {"paper": (512, 1024), "miniature": (48, 64)}.items():
        of = plan(scale).rows.kinds.get("reranked")
        for model, length in zip(("mbert_qlm_rr_10", "mbert_gsw_qlm_rr_10"), lengths, strict=True):
            assert of.recipe(Row("clef", model, "cv5")).length == length
    of = plan().pretraining
    assert of.attention_window("mbert_gsw_qlm_rr_10") == 8 and of.attention_window("mbert_uncased") is None


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
