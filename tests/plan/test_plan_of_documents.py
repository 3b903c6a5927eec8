"""Shi et al.'s dense rows as they are planned: documents in windows, titles and generated queries to train on."""

import json
import shlex
from dataclasses import replace
from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.schema.benchmarks import Benchmark
from stele.cluster import search_costs, text_costs, training_costs
from stele.cluster.cost_page import markdown
from stele.cluster.requests import JobRequest
from stele.errors import SteleError
from stele.recipes.search import Windows
from stele.retrieval.dense.windows import parse_windows

COLLECTIONS = ["ntcir8_zh", "trec2002_ar", "clef2006_fr", "fire2012_hi", "fire2012_bn", "trec3_es"]
SEEDS = "pt0-ft0"


def test_the_windows_are_the_paper_s_in_all_six_and_nowhere_else():
    found = {name: entry.windows for name, entry in catalogue.entries(Benchmark).items() if entry.windows}
    assert found == dict.fromkeys(COLLECTIONS, Windows(sentences=5, stride=1, hits=100, best=3))


def test_the_command_is_told_of_windows_where_there_are_some(plan):
    flag, value = shlex.split(plan.retrieval.windows(RunKey("trec3_es", "xlmr", "direct")))
    assert flag == "--windows" and parse_windows(value) == catalogue.entries(Benchmark)["trec3_es"].windows
    assert plan.retrieval.windows(RunKey("mrtydi", "xlmr", "direct")) == ""


def test_a_setting_may_name_the_field_of_topics_that_is_the_query(plan, monkeypatch):
    row = RunKey("trec3_es", "mbert", "zero_shot_marco")
    assert plan.retrieval.field(row) == ""
    changed = {"trec3_es": {"zero_shot_marco": {"kind": "dense", "recipe": "marco_shi", "field": "description"}}}
    monkeypatch.setitem(plan.protocols.__dict__, "settings", changed)
    assert plan.retrieval.field(row) == "--field description"


@pytest.mark.parametrize("benchmark", COLLECTIONS)
@pytest.mark.parametrize(("setting", "recipe"), [("zero_shot_nq", "nq_shi"), ("zero_shot_marco", "marco_shi")])
def test_rows_are_of_encoders_that_read_whole_windows(paper, benchmark, setting, recipe):
    plan = paper(user_data={benchmark: "."})
    made = plan.rows.inputs(RunKey(benchmark, "mbert", setting), SEEDS)
    assert made["encoder"] == f"work/paper/finetuned/mbert/{recipe}/{SEEDS}/record.json"
    spec = plan.finetuning.recipe(recipe).spec()
    assert (spec.pooling, spec.normalize, spec.towers, spec.passage_length) == ("cls", False, "separate", 512)


def test_the_cost_report_lists_windows_hours_and_disk_of_each_collection(paper):
    """What is reckoned is the encoding of windows, not of documents."""
    plan = paper(user_data={"trec3_es": "."})
    w = {"benchmark": "trec3_es", "model": "mbert", "setting": "zero_shot_nq", "seeds": SEEDS}
    work = search_costs.retrieve(plan, SimpleNamespace(**w))
    assert work.temporary == 57_868 * 10 * 768 * 4, "a vector a window"
    assert work.flops["search"] == 2.0 * 25 * 57_868 * 10 * 768
    resources = {"gpus": 2, "mem_mb": 1, "runtime": 600}
    job = JobRequest("retrieval", "retrieve", w, "log", (), 1, resources, work=work, seconds=3600)
    page = markdown(plan, [job, job], "a100", True)
    row = next(line for line in page.splitlines() if line.startswith("| trec3_es"))
    assert [cell.strip() for cell in row.strip("|").split("|")] == ["trec3_es", "578,680", "2", "2.0", "1.8 GB"]
    other = replace(job, wildcards={**w, "benchmark": "mrtydi"})
    assert "windows" not in markdown(plan, [other], "a100", True)


def test_a_row_goes_on_from_marco_with_the_titles_of_its_own_language(paper):
    plan = paper(user_data={"fire2012_hi": "."})
    row = RunKey("fire2012_hi", "mbert", "wiki")
    assert plan.rows.inputs(row, SEEDS)["encoder"] == f"work/paper/finetuned/mbert/wiki-hi/{SEEDS}/record.json"
    made = plan.finetuning.inputs(SimpleNamespace(model="mbert", recipe="wiki-hi", seeds=SEEDS))
    assert made == {
        "encoder": f"work/paper/finetuned/mbert/marco_shi/{SEEDS}/record.json",
        "data": ["work/paper/title_queries/wiki/hi/record.json"],
        "negatives": [],
    }
    assert plan.finetuning.training_data("wiki-hi") == {"wiki:hi": "work/paper/title_queries/wiki/hi/record.json"}
    assert plan.finetuning.chain("wiki-hi") == ["marco_shi", "wiki-hi"]
    downloads = {path for path in plan.rows.downloads(row) if "title_queries" not in path and "wikipedia" in path}
    assert downloads == {"resources/paper/datasets/wikipedia/hi/record.json"}, "and of no other language"


def test_the_command_reads_the_set_and_is_not_told_of_the_language(plan):
    recipe = plan.finetuning.recipe("wiki-hi")
    assert recipe == plan.finetuning.recipe("wiki-bn")
    assert recipe.training_set.given() == {"module": "transfer_set", "data": ["wiki"]}


def test_without_a_language_all_in_scale_are_read(paper, miniature):
    whole = [f"wiki:{code}" for code in ("ar", "bn", "es", "fr", "hi", "zh")]
    assert list(paper().finetuning.training_data("wiki")) == whole
    assert list(miniature().finetuning.training_data("wiki")) == ["wiki:ar", "wiki:es", "wiki:fr"]


def test_other_sets_can_be_cut_to_a_language_too(plan):
    assert list(plan.finetuning.training_data("mrtydi-sw")) == ["mrtydi_train:sw", "nq_dpr:all"]
    with pytest.raises(SteleError, match="recipe 'wiki-de': training set wiki: unknown language 'de'"):
        plan.finetuning.training_data("wiki-de")


def test_what_titles_and_their_training_cost_is_reckoned(plan):
    work = text_costs.title_queries(plan, SimpleNamespace(recipe="wiki", part="fr"))
    assert 600 < work.cpu_seconds < 36_000 and 1e9 < work.kept < 5e9
    steps = training_costs.finetune(plan, SimpleNamespace(model="mbert", recipe="wiki-fr", seeds=SEEDS)).steps
    assert steps == 3 * (50_000 // 64)


# --- MS -> QGen: which generator of which language, from what, for whose documents ------------------------------------
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


def test_a_scale_s_generator_has_the_model_code_and_translations_that_the_scale_gives(paper, tmp_path):
    scale, entry = tmp_path / "own.yaml", "{model: mbart50, code: ar_XX, training_set: translated_marco}"
    scale.write_text(f"title: x\ngenerated: false\ngenerators: {{qgen: {{by_language: {{ar: {entry}}}}}}}\n")
    transfer = paper(scale=str(scale)).transfer
    recipe = transfer.generator("qgen", "ar")
    found = transfer.model("qgen", "ar"), recipe.language_code, recipe.training_set.entry
    assert found == ("mbart50", "ar_XX", "translated_marco")


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
