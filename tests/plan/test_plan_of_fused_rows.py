"""Fused rows as they are planned: their two rankings, whose problems they have, seeds, the user's own folds."""

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.errors import SteleError
from stele.plan.rows import fused

FUSED = RunKey("trec3_es", "mbert", "zero_shot_nq_fused")


@pytest.fixture
def plan(paper, monkeypatch):
    """plan(**config) -> a plan in which the dense settings are there and the collection is the user's."""

    def call(tmp_path, **config):
        made = paper(user_data={"trec3_es": str(tmp_path), **config.pop("user_data", {})}, **config)
        own = made.protocols.settings["trec3_es"]
        monkeypatch.setitem(own, "zero_shot_nq", {"kind": "dense", "recipe": "nq"})
        return made

    return call


def test_a_fused_row_reads_both_rankings_and_the_judgments(plan, tmp_path):
    made = plan(tmp_path, seeds={"pretraining": [0], "finetuning": [0, 1]})
    assert made.rows.problem(FUSED) is None and made.rows.seeds(FUSED) == ["pt0-ft0", "pt0-ft1"]
    assert made.rows.inputs(FUSED, "pt0-ft1") == {
        "term": "results/trec3_es/bm25_rm3/direct/pt0-ft0/retrieval.json",
        "dense": "results/trec3_es/mbert/zero_shot_nq/pt0-ft1/retrieval.json",
        "data": [made.paths.dataset("trec3_es", "all"), made.paths.dataset("trec3_es_topics", "all")],
    }
    parts = [RunKey("trec3_es", "bm25_rm3", "direct"), RunKey("trec3_es", "mbert", "zero_shot_nq")]
    assert made.rows.downloads(FUSED) == made.rows.downloads(parts[0]) | made.rows.downloads(parts[1])


def test_a_fused_row_has_the_problem_of_its_dense_row(plan, tmp_path):
    made, dense = plan(tmp_path), RunKey("trec3_es", "bm25", "zero_shot_nq")
    assert made.rows.problem(FUSED._replace(model="bm25")) == made.rows.problem(dense) is not None
    with pytest.raises(SteleError, match="results/trec3_es/bm25/zero_shot_nq_fused: not built"):
        made.rows.inputs(FUSED._replace(model="bm25"), "pt0-ft0")


def test_term_matching_is_expanded_where_that_was_better_on_the_test_topics():
    """Shi et al., section 6: BM25+RM3 in French, Bengali and Spanish."""
    settings = [(name, entry) for name, own in catalogue.load("settings")["settings"].items() for entry in own.values()]
    terms = {(name, entry["term"]) for name, entry in settings if entry["kind"] == "fused"}
    expanded = {(name, "bm25_rm3") for name in ("clef2006_fr", "fire2012_bn", "trec3_es")}
    assert terms == expanded | {(name, "bm25") for name in ("ntcir8_zh", "trec2002_ar", "fire2012_hi")}


def test_folds_of_the_user_s_are_an_input(plan, tmp_path):
    made = plan(tmp_path, user_data={fused.FOLDS: str(tmp_path)})
    record = made.paths.dataset(fused.FOLDS, "all")
    assert made.rows.inputs(FUSED, "pt0-ft0")["folds"] == record and record in made.rows.downloads(FUSED)
    gone = plan(tmp_path, user_data={fused.FOLDS: "/no/such/folder"})
    assert gone.rows.problem(FUSED) == ("unavailable", "user_data.fusion_folds: /no/such/folder is not a folder")


def test_an_expanding_model_is_a_row_of_every_setting_that_is_given(plan, tmp_path):
    made = plan(tmp_path)
    row = RunKey("trec3_es", "bm25_rm3", "direct")
    recipe = made.rows.kind(row).recipe(row)
    assert recipe == {"k1": 0.9, "b": 0.4, "lengths": "lucene", "rm3": {"filter": "ascii"}}
    assert "rm3" not in made.rows.kind(row).recipe(row._replace(model="bm25"))


def test_term_matching_is_fused_in_the_setting_that_a_benchmark_has_for_it(paper, monkeypatch):
    made = paper()
    mine = {"kind": "fused", "term": "bm25", "dense": "multilingual"}
    monkeypatch.setitem(made.protocols.settings["mrtydi"], "mine", mine)
    row = RunKey("mrtydi", "msm", "mine")
    assert made.rows.problem(row) is None
    assert made.rows.inputs(row, "pt0-ft0")["term"] == "results/mrtydi/bm25/tuned/pt0-ft0/retrieval.json"
