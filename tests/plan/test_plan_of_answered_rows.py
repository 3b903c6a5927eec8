"""Rows of question answering: one fine-tuning a model and seeds, what it reads, what it costs."""

import pytest

from stele.artifacts.results import RunKey
from stele.cluster.requests import estimate
from stele.config.model import parse_config
from stele.plan.plan import Plan
from stele.plan.rows import kind_named

ROW = RunKey("mlqa", "xlmr", "zero_shot")
SEEDS = "pt0-ft0"


def plan(scale="miniature", **more):
    return Plan(parse_config({"scale": scale, **more}))


def test_a_row_is_one_job_that_reads_the_questions_and_what_it_learns_from():
    of = plan()
    assert of.rows.problem(ROW) is None
    assert of.rows.inputs(ROW, SEEDS) == {
        "encoder": of.paths.checkpoint("xlmr"),
        "data": [of.paths.dataset("mlqa", "all")],
        "training_data": [of.paths.dataset("squad2", "all")],
    }
    needed = {of.paths.dataset("mlqa", "all"), of.paths.dataset("squad2", "all"), of.paths.checkpoint("xlmr")}
    assert of.rows.downloads(ROW) == needed
    w = type("W", (), {"benchmark": "mlqa", "model": "xlmr", "setting": "zero_shot", "seeds": SEEDS})
    assert of.scoring.inputs(w)["retrieval"] == "results/mlqa/xlmr/zero_shot/pt0-ft0/answers.json"


def test_pairs_are_those_whose_languages_are_both_in_scale():
    assert plan(languages=["es", "en"]).rows.languages(ROW) == ["en-es", "es-en", "es-es"]
    paper = plan("paper").rows
    assert paper.languages(ROW) == ["de-de", "de-en", "de-es", "en-de", "en-es", "es-de", "es-en", "es-es"]
    assert paper.problem(ROW) is None, "it needs nothing of the user"


def test_one_s_own_questions_are_answered_in_all_their_pairs(tmp_path):
    of = plan(user_data={"mlqa": str(tmp_path)})
    assert of.rows.problem(ROW) is None
    assert of.rows.languages(ROW) == of.data.benchmark("mlqa").languages


@pytest.mark.parametrize(("metric", "is_built"), [("f1", False), ("f1_squad", True)])
def test_metrics_must_know_the_language_of_the_answers(jobs, tmp_path, metric, is_built):
    facts = {"title": "Mine", "languages": ["en-fr"], "data": ["mine"], "judgments": ["mine"]}
    data = {"title": "Mine", "version": "1", "parts": "all", "languages": ["en", "fr"], "files": [], "licence": "mine"}
    made = jobs(
        scale="paper",
        add_datasets={"mine": {**data, "wall": "private", "how": "it is yours"}},
        add_benchmarks={"mine": {**facts, "module": "mlqa", "metrics": [metric]}},
        add_settings={"mine": {"zero_shot": {"kind": "answered", "answering": "squad2"}}},
        user_data={"mine": str(tmp_path)},
    )
    problem = made.rows.problem(ROW._replace(benchmark="mine"))
    assert problem is None if is_built else "f1: unknown MLQA answer language 'fr'" in problem[1]


def test_the_recipe_is_the_papers_and_where_the_code_differs_another():
    paper, small = (kind_named("answered")(plan(scale).rows) for scale in ("paper", "miniature"))
    whole = paper.recipe(ROW).given()
    assert (whole["epochs"], whole["batch"], whole["learning_rate"], whole["length"]) == (10, 16, 1e-5, 512)
    assert whole["training_set"] == {"module": "squad2", "data": ["squad2"]}
    code = paper.recipe(ROW._replace(setting="zero_shot_code")).given()
    assert {key for key in whole | code if whole.get(key) != code.get(key)} == {"stride", "dev_from_epoch"}
    assert small.recipe(ROW).epochs < 10 and small.recipe(ROW).threads == 1


def test_the_cost_is_that_of_ten_epochs_and_of_what_is_answered():
    of = plan("paper")
    job = estimate(of, "answer", {"benchmark": "mlqa", "model": "xlmr", "setting": "zero_shot", "seeds": SEEDS})
    assert job.steps == 10 * -(-130_319 // 16)
    layers = 12 * 8 * 768**2 + 12 * 4 * 768 * 3072  # operations of all layers for one token, attention left out
    assert job.flops["training"] == pytest.approx(3 * 10 * 130_319 * 350 * layers, rel=0.15)
    assert job.flops["encoding"] == pytest.approx(8 * (10 * 430 + 4110) * 190 * layers, rel=0.15)
