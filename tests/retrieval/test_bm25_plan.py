"""BM25 in the plan: a model without a checkpoint, one seed, borrowed unless `recompute` asks, the user's engine."""

import pytest

from stele.errors import SteleError


class Wildcards:
    benchmark, model, setting, seeds = "mrtydi", "bm25", "tuned", "pt0-ft0"


@pytest.fixture(scope="module")
def jobs():
    from stele.config.model import parse_config
    from stele.plan.base import make_plan
    from stele.plan.jobs import Jobs

    return lambda **values: make_plan(parse_config(values), Jobs)


def test_a_row_of_bm25_can_be_built_and_needs_texts_alone(jobs):
    plan = jobs(scale="paper")
    assert plan.row_problem("mrtydi", "bm25", "tuned") is None
    assert {path.split("/")[3] for path in plan.leaves("mrtydi", "bm25", "tuned")} == {"mrtydi", "mrtydi_corpus"}
    assert plan.bm25_input(Wildcards)["data"] == list(plan.bm25_data(Wildcards).values())


def test_a_row_of_bm25_is_borrowed_unless_all_are_to_be_computed(jobs):
    row = "mrtydi", "bm25", "tuned"
    assert row not in jobs(scale="paper", papers=["kept"]).rows()
    again = jobs(scale="paper", papers=["kept"], recompute="all")
    assert row in again.rows() and again.result(*row) in again.table_results("kept/02")
    assert again.row_problem("nq", "bm25", "direct")[0] == "not built"


@pytest.mark.parametrize("row", [("mrtydi", "mbert", "tuned"), ("mrtydi", "bm25", "direct"), ("nq", "bm25", "direct")])
def test_settings_of_other_models(jobs, row):
    assert jobs(scale="paper").row_problem(*row)[0] == "not built"


def test_bm25_has_one_seed_whatever_other_models_have(jobs):
    plan = jobs(scale="paper", seeds={"pretraining": [0, 1], "finetuning": [0, 1, 2]})
    assert plan.seeds("bm25") == ["pt0-ft0"] and len(plan.seeds("mbert")) == 3


def test_an_unknown_setting_is_said_with_the_nearest(jobs):
    class Mistyped(Wildcards):
        setting = "tune"

    with pytest.raises(SteleError, match="did you mean 'tuned'"):
        jobs(scale="paper").bm25_input(Mistyped)


def test_the_user_s_anserini_is_an_input(jobs, tmp_path):
    (tmp_path / "anserini-0.25.0-fatjar.jar").write_bytes(b"jar")
    plan = jobs(scale="paper", user_data={"anserini": str(tmp_path)})
    record = "resources/paper/datasets/anserini/all/record.json"
    assert plan.bm25_input(Wildcards)["anserini"] == record and record in plan.leaves("mrtydi", "bm25", "tuned")
    gone = jobs(scale="paper", user_data={"anserini": "/no/folder"})
    reason = "user_data.anserini: /no/folder is not a folder"
    assert gone.row_problem("mrtydi", "bm25", "tuned") == ("unavailable", reason)
    assert gone.row_problem("lareqa", "mbert", "zero_shot") is None
