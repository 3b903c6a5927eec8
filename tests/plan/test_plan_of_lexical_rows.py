"""Rows without an encoder, as they are planned: BM25, and counts of datasets."""

import pytest

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


def test_a_setting_that_is_unknown_gets_the_nearest_name(plan):
    with pytest.raises(SteleError, match="unknown setting 'tunde'; did you mean 'tuned'"):
        plan.rows.inputs(RunKey("mrtydi", "bm25", "tunde"))


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


def test_a_statistic_without_a_counter_is_not_built(plan):
    with pytest.raises(SteleError, match="results/statistics/tatoeba/count: not built: nothing counts tatoeba yet"):
        plan.rows.inputs(RunKey("statistics", "tatoeba", "count"))
