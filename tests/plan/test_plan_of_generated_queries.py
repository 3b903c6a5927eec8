"""Rows of MS -> QGen as they are planned: which generator of which language, from what, for whose documents."""

import json
from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.schema.benchmarks import Benchmark
from stele.cluster import search_costs, training_costs
from stele.errors import SteleError

SEEDS = "pt0-ft0"
SETS = {"ar": "trec2002_ar", "bn": "fire2012_bn", "es": "trec3_es"}
SETS |= {"fr": "clef2006_fr", "hi": "fire2012_hi", "zh": "ntcir8_zh"}


def job(language: str) -> SimpleNamespace:
    return SimpleNamespace(recipe="qgen", part=language)


@pytest.mark.parametrize(("language", "benchmark"), SETS.items())
def test_a_row_is_tuned_on_queries_for_its_own_documents(paper, language, benchmark):
    users = {benchmark: ".", **({"translated_marco": "."} if language == "bn" else {})}
    plan = paper(user_data=users)
    row = RunKey(benchmark, "mbert", "qgen")
    assert plan.rows.problem(row) is None
    assert plan.rows.inputs(row, SEEDS)["encoder"] == f"work/paper/finetuned/mbert/qgen-{language}/{SEEDS}/record.json"
    made = plan.finetuning.inputs(SimpleNamespace(model="mbert", recipe=f"qgen-{language}", seeds=SEEDS))
    assert made["encoder"] == f"work/paper/finetuned/mbert/marco_shi/{SEEDS}/record.json"
    assert made["data"] == [f"work/paper/generate_queries/qgen/{language}/record.json"]
    assert plan.transfer.generator_of("qgen") == "qgen"
    documents = plan.transfer.documents("qgen", language).values()
    assert f"resources/paper/datasets/{benchmark}/all/record.json" in documents
    assert plan.transfer.benchmark("qgen", language) == benchmark
    windows = catalogue.entries(Benchmark)[benchmark].windows.given()
    assert json.loads(plan.transfer.windows("qgen", language)) == windows


def test_the_generator_of_bengali_is_mbart_50_and_its_translations_are_the_users(plan):
    models = {code: plan.transfer.model("qgen", code) for code in SETS}
    assert models == {**dict.fromkeys(SETS, "mbart"), "bn": "mbart50"}
    translations = [*plan.transfer.translations("qgen", "bn").values()]
    assert translations == ["resources/paper/datasets/translated_marco/all/record.json"]
    of_hindi = [f"resources/paper/datasets/{part}/record.json" for part in ("mmarco/hi", "msmarco_qrels/all")]
    assert [*plan.transfer.translations("qgen", "hi").values()] == of_hindi


def test_a_language_is_called_as_its_model_calls_it(plan):
    codes = {code: plan.transfer.generator("qgen", code).language_code for code in SETS}
    assert codes == {"ar": "ar_AR", "bn": "bn_IN", "es": "es_XX", "fr": "fr_XX", "hi": "hi_IN", "zh": "zh_CN"}
    assert plan.transfer.generator("qgen", "bn").training_set.module == "jsonl"
    with pytest.raises(SteleError, match=r"generators\.qgen: unknown language 'de'"):
        plan.transfer.generator("qgen", "de")


def test_downloads_are_of_the_row_s_language_alone(paper):
    plan = paper(user_data={"fire2012_hi": "."})
    records = plan.rows.downloads(RunKey("fire2012_hi", "mbert", "qgen"))
    assert {path for path in records if "mmarco" in path or "mbart" in path or "qrels" in path} == {
        "resources/paper/datasets/mmarco/hi/record.json",
        "resources/paper/datasets/msmarco_qrels/all/record.json",
        "resources/paper/checkpoints/mbart/record.json",
    }


@pytest.mark.parametrize("setting", ["qgen", "qgen_fused", "wiki", "wiki_fused"])
def test_a_users_collection_in_a_language_that_the_scale_lacks_stops_nothing(miniature, setting):
    plan = miniature(user_data={"fire2012_bn": "."})
    state, reason = plan.rows.problem(RunKey("fire2012_bn", "mbert", setting))
    assert state == "not in scale" and "is not built in bn" in reason
    assert plan.requested.downloads()


def test_what_generators_and_queries_cost_is_reckoned(plan):
    training = training_costs.finetune_generator(plan, job("hi"))
    # 1,000 steps of 20 pairs: 6 operations a weight and token, of 354 million in the layers of both sides
    assert 6 * 354e6 * 1000 * 20 * 100 < training.operations < 6 * 620e6 * 1000 * 20 * 300
    assert training.steps == 1000
    written = search_costs.generate_queries(plan, job("hi"))
    assert 1e16 < written.operations < 1e17 and written.steps == 0
