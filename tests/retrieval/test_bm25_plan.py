"""BM25 in the plan: a model without a checkpoint, one seed, borrowed unless `recompute` asks, the user's engine."""

import pytest

from stele.artifacts.results import RunKey
from stele.errors import SteleError

BM25 = RunKey("mrtydi", "bm25", "tuned")


def test_a_row_of_bm25_can_be_built_and_needs_texts_alone(jobs):
    plan = jobs(scale="paper")
    assert plan.rows.problem(RunKey("mrtydi", "bm25", "tuned")) is None
    assert {path.split("/")[3] for path in plan.rows.downloads(RunKey("mrtydi", "bm25", "tuned"))} == {
        "mrtydi",
        "mrtydi_corpus",
    }
    assert plan.rows.inputs(BM25)["data"] == list(plan.protocols.searched(BM25).values())


def test_a_row_of_bm25_is_borrowed_unless_all_are_to_be_computed(jobs):
    assert BM25 not in jobs(scale="paper", papers=["kept"]).requested.all_rows
    again = jobs(scale="paper", papers=["kept"], recompute="all")
    assert BM25 in again.requested.all_rows and again.paths.result(BM25) in again.tables.results("kept/02")
    assert again.rows.problem(RunKey("nq", "bm25", "direct"))[0] == "not built"


@pytest.mark.parametrize("row", [("mrtydi", "mbert", "tuned"), ("mrtydi", "bm25", "direct"), ("nq", "bm25", "direct")])
def test_settings_of_other_models(jobs, row):
    assert jobs(scale="paper").rows.problem(RunKey(*row))[0] == "not built"


def test_bm25_has_one_seed_whatever_other_models_have(jobs):
    plan = jobs(scale="paper", seeds={"pretraining": [0, 1], "finetuning": [0, 1, 2]})
    assert plan.rows.seeds(BM25) == ["pt0-ft0"] and len(plan.rows.seeds(RunKey("mrtydi", "mbert", "direct"))) == 3


def test_an_unknown_setting_is_said_with_the_nearest(jobs):
    with pytest.raises(SteleError, match="did you mean 'tuned'"):
        jobs(scale="paper").rows.inputs(BM25._replace(setting="tune"))


def test_the_user_s_anserini_is_an_input(jobs, tmp_path):
    (tmp_path / "anserini-0.25.0-fatjar.jar").write_bytes(b"jar")
    plan = jobs(scale="paper", user_data={"anserini": str(tmp_path)})
    record = "resources/paper/datasets/anserini/all/record.json"
    assert plan.rows.inputs(BM25)["anserini"] == record and record in plan.rows.downloads(
        RunKey("mrtydi", "bm25", "tuned")
    )
    gone = jobs(scale="paper", user_data={"anserini": "/no/folder"})
    reason = "user_data.anserini: /no/folder is not a folder"
    assert gone.rows.problem(RunKey("mrtydi", "bm25", "tuned")) == ("unavailable", reason)
    assert gone.rows.problem(RunKey("lareqa", "mbert", "zero_shot")) is None
