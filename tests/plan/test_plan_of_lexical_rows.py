"""Rows without an encoder, as they are planned: BM25, and counts of datasets."""

from types import SimpleNamespace

import pytest

from stele.catalogue import datasets
from stele.errors import SteleError

BM25 = ("mrtydi", "bm25", "tuned")
W = SimpleNamespace(benchmark="mrtydi", model="bm25", setting="tuned", seeds="pt0-ft0")


def test_a_lexical_row_needs_the_benchmark_and_no_checkpoint(jobs):
    plan = jobs(scale="paper")
    assert plan.lexical_models == ["bm25"] and plan.row_problem(*BM25) is None
    assert plan.leaves(*BM25) == {*plan.data(["mrtydi", "mrtydi_corpus"], plan.languages("mrtydi")).values()}
    assert set(plan.bm25_input(W)) == {"data"} and set(plan.bm25_input(W)["data"]) == plan.leaves(*BM25)
    assert plan.bm25_recipe(W)["split"] == "dev"
    assert plan.bm25_data(W).keys() == {
        f"{n}:{c}" for n in ("mrtydi", "mrtydi_corpus") for c in plan.languages("mrtydi")
    }


def test_nothing_of_a_lexical_model_depends_on_a_seed(jobs):
    plan = jobs(scale="paper", seeds={"pretraining": [0, 1], "finetuning": [0, 1]})
    assert plan.seeds("bm25") == ["pt0-ft0"] and len(plan.seeds("kept")) == 4


def test_settings_of_lexical_models_and_of_others_are_not_mixed(jobs):
    plan = jobs(scale="paper")
    for model, setting in (("bm25", "multilingual"), ("kept", "tuned")):
        assert plan.row_problem("mrtydi", model, setting) == (
            "not built",
            f"no rule builds mrtydi/{setting} with {model} yet",
        )
    with pytest.raises(SteleError, match="unknown setting of lexical models 'tunde'; did you mean 'tuned'"):
        plan.bm25_recipe(SimpleNamespace(benchmark="mrtydi", model="bm25", setting="tunde"))


def test_anserini_is_asked_for_where_the_user_names_it(jobs, tmp_path):
    assert jobs(scale="paper").anserini is None
    plan = jobs(scale="paper", user_data={"anserini": str(tmp_path)})
    assert plan.bm25_input(W)["anserini"] == plan.anserini == plan.dataset("anserini", "all")
    assert plan.anserini in plan.leaves(*BM25)
    gone = jobs(scale="paper", user_data={"anserini": "/no/such/folder"})
    assert gone.row_problem(*BM25) == ("unavailable", "user_data.anserini: /no/such/folder is not a folder")
    assert gone.row_problem("mrtydi", "mbert", "multilingual") is None
    with pytest.raises(SteleError, match=r"results/mrtydi/bm25/tuned: unavailable: user_data\.anserini"):
        gone.bm25_input(W)


def test_a_count_is_of_a_whole_dataset_in_scale(jobs):
    whole = datasets.languages_of(datasets.dataset("mrtydi"))
    assert [*jobs(scale="paper").counted_data("mrtydi")] == [f"mrtydi:{code}" for code in whole]
    small = jobs(scale="miniature")
    assert [*small.counted_data("mrtydi")] == [f"mrtydi:{c}" for c in whole if c in small.sizes["languages"]]
    row = ("statistics", "mrtydi", "count")
    assert small.leaves(*row) == {*small.counted_data("mrtydi").values()}
    assert small.count_dataset_input(SimpleNamespace(dataset="mrtydi"))["data"] == [
        *small.counted_data("mrtydi").values()
    ]


def test_some_languages_are_not_counted_as_all(jobs):
    plan = jobs(scale="paper", languages=["sw"])
    state, reason = plan.row_problem("statistics", "mrtydi", "count")
    assert state == "not in scale" and "counted in all its languages" in reason
    assert plan.row_problem("statistics", "xor_tydi", "count") is None  # of one part


def test_a_statistic_without_a_counter_is_not_built(jobs):
    plan = jobs(scale="paper")
    assert plan.row_problem("statistics", "tatoeba", "count")[0] == "not built"
    assert plan.row_problem("statistics", "mrtydi", "cuont")[0] == "not built"
    with pytest.raises(SteleError, match="results/statistics/tatoeba/count: not built: nothing counts tatoeba yet"):
        plan.count_dataset_input(SimpleNamespace(dataset="tatoeba"))
