"""Rows of term matching as they are planned, alone and fused with vectors; counts of datasets."""

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue import datasets
from stele.errors import SteleError

LEXICAL = ["bm25", "bm25_rm3", "bm25_rm3_unfiltered"]
BM25 = RunKey("mrtydi", "bm25", "tuned")


def test_a_lexical_row_needs_the_benchmark_and_no_checkpoint(plan):
    assert [key for key in plan.models.all if plan.models.is_lexical(key)] == LEXICAL
    assert plan.rows.problem(BM25) is None
    records = plan.data.records(["mrtydi", "mrtydi_corpus"], plan.data.languages("mrtydi"))
    assert plan.rows.downloads(BM25) == {*records.values()} and plan.protocols.searched(BM25) == records
    inputs = plan.rows.inputs(BM25)
    assert set(inputs) == {"data"} and set(inputs["data"]) == plan.rows.downloads(BM25)
    assert plan.rows.kind(BM25).recipe(BM25)["split"] == "dev"


def test_a_lexical_row_is_borrowed_unless_all_are_to_be_computed(paper):
    assert BM25 not in paper(papers=["kept"]).requested.all_rows
    again = paper(papers=["kept"], recompute="all")
    assert BM25 in again.requested.all_rows and again.paths.result(BM25) in again.tables.results("kept/02")


def test_every_row_that_a_paper_borrowed_can_be_computed(jobs):
    plan = jobs(scale="miniature", recompute="all")
    problems = {row: plan.rows.problem(row) for row in plan.tables.all_rows()}
    assert [row for row, problem in problems.items() if problem and problem[0] == "not built"] == []


def test_nothing_of_a_lexical_model_depends_on_a_seed(paper):
    plan = paper(seeds={"pretraining": [0, 1], "finetuning": [0, 1]})
    assert plan.rows.seeds(BM25) == ["pt0-ft0"] and len(plan.rows.seeds(RunKey("mrtydi", "kept", "zero_shot_nq"))) == 4


def test_anserini_is_asked_for_where_the_user_names_it(paper, tmp_path):
    assert "anserini" not in paper().rows.inputs(BM25)
    plan = paper(user_data={"anserini": str(tmp_path)})
    record = plan.paths.dataset("anserini", "all")
    assert plan.rows.inputs(BM25)["anserini"] == plan.rows.kind(BM25).anserini == record
    assert record in plan.rows.downloads(BM25)
    gone = paper(user_data={"anserini": "/no/such/folder"})
    assert gone.rows.problem(BM25) == ("unavailable", "user_data.anserini: /no/such/folder is not a folder")
    assert gone.rows.problem(RunKey("mrtydi", "mbert", "multilingual")) is None
    with pytest.raises(SteleError, match=r"results/mrtydi/bm25/tuned: unavailable: user_data\.anserini"):
        gone.rows.inputs(BM25)


def test_a_count_is_of_a_whole_dataset_in_scale(paper, miniature):
    whole = datasets.languages_of(datasets.dataset("mrtydi"))
    assert [*paper().data.all_records("mrtydi")] == [f"mrtydi:{code}" for code in whole]
    small = miniature()
    records, row = small.data.all_records("mrtydi"), RunKey("statistics", "mrtydi", "count")
    assert [*records] == [f"mrtydi:{code}" for code in whole if code in small.settings.sizes.languages]
    assert small.rows.downloads(row) == {*records.values()}
    assert small.rows.inputs(row)["data"] == [*records.values()]


# --- fused rows: their two rankings, whose problems they have, seeds, the user's own folds ----------------------------
FUSED = RunKey("trec3_es", "mbert", "zero_shot_nq_fused")


@pytest.fixture
def fusing(paper, monkeypatch):
    """fusing(**config) -> a plan in which the dense settings are there and the collection is the user's."""

    def call(tmp_path, **config):
        made = paper(user_data={"trec3_es": str(tmp_path), **config.pop("user_data", {})}, **config)
        own = made.protocols.settings["trec3_es"]
        monkeypatch.setitem(own, "zero_shot_nq", {"kind": "dense", "recipe": "nq"})
        return made

    return call


def test_a_fused_row_reads_both_rankings_and_the_judgments(fusing, tmp_path):
    made = fusing(tmp_path, seeds={"pretraining": [0], "finetuning": [0, 1]})
    assert made.rows.problem(FUSED) is None and made.rows.seeds(FUSED) == ["pt0-ft0", "pt0-ft1"]
    assert made.rows.inputs(FUSED, "pt0-ft1") == {
        "term": "results/trec3_es/bm25_rm3/direct/pt0-ft0/retrieval.json",
        "dense": "results/trec3_es/mbert/zero_shot_nq/pt0-ft1/retrieval.json",
        "data": [made.paths.dataset("trec3_es", "all"), made.paths.dataset("trec3_es_topics", "all")],
    }
    parts = [RunKey("trec3_es", "bm25_rm3", "direct"), RunKey("trec3_es", "mbert", "zero_shot_nq")]
    assert made.rows.downloads(FUSED) == made.rows.downloads(parts[0]) | made.rows.downloads(parts[1])


def test_a_fused_row_has_the_problem_of_its_dense_row(fusing, tmp_path):
    made, dense = fusing(tmp_path), RunKey("trec3_es", "bm25", "zero_shot_nq")
    assert made.rows.problem(FUSED._replace(model="bm25")) == made.rows.problem(dense) is not None
    with pytest.raises(SteleError, match="results/trec3_es/bm25/zero_shot_nq_fused: not built"):
        made.rows.inputs(FUSED._replace(model="bm25"), "pt0-ft0")


def test_term_matching_is_expanded_where_that_was_better_on_the_test_topics():
    """Shi et al., section 6: BM25+RM3 in French, Bengali and Spanish."""
    settings = [(name, entry) for name, own in catalogue.load("settings")["settings"].items() for entry in own.values()]
    terms = {(name, entry["term"]) for name, entry in settings if entry["kind"] == "fused"}
    expanded = {(name, "bm25_rm3") for name in ("clef2006_fr", "fire2012_bn", "trec3_es")}
    assert terms == expanded | {(name, "bm25") for name in ("ntcir8_zh", "trec2002_ar", "fire2012_hi")}


def test_an_expanding_model_is_a_row_of_every_setting_that_is_given(fusing, tmp_path):
    made = fusing(tmp_path)
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
