"""Today's encoders in the plan: what their checkpoints are checked as, and who says how they encode."""

import json

import pytest

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.costs import Checkpoint
from stele.catalogue.schema.datasets import Dataset
from stele.catalogue.schema.models import Model
from stele.config.user_models import model_of

TODAY = {key: model for key, model in catalogue.entries(Model).items() if model.is_complete}


def test_weights_of_sixteen_bits_are_checked_as_such(paper):
    plan = paper(models={"qwen3_4b": {"encoding": {"weights": "float32"}}})
    assert plan.sources.checkpoint_params("qwen3_8b")["weights"] == "bfloat16"
    assert "weights" not in plan.sources.checkpoint_params("qwen3_4b")  # config.yaml decides
    assert "weights" not in plan.sources.checkpoint_params("me5_base")


def test_a_repository_with_code_names_its_twin_without(paper):
    plan = paper(models={"gte": {"checkpoint": "Alibaba-NLP/gte-multilingual-base"}})
    assert "checkpoint: alibaba-nlp-community/gte-multilingual-base" in plan.sources.checkpoint_params("gte")["instead"]
    assert "instead" not in plan.sources.checkpoint_params("gte_mbase")


def test_another_repository_of_a_known_model_has_no_revision_of_the_first(paper, miniature):
    changed = {"me5_small": {"checkpoint": "a/b"}, "me5_base": {"checkpoint": "a/c", "revision": "v2"}}
    source = paper(models=changed).models.checkpoint_source
    assert source("me5_small") == {"checkpoint": "a/b", "revision": "main"}
    assert source("me5_base")["revision"] == "v2"
    assert source("me5_large")["revision"] == catalogue.entry(Model, "me5_large").revision
    assert miniature().models.checkpoint_source("me5_base")["revision"] == "main", "a stand-in has one"


def test_what_a_checkpoint_is_for_is_said_before_it_is_fetched_and_changes_no_job(paper):
    mine = {"checkpoint": "a/b", "encoding": {"pooling": "cls", "dimension": 64}}
    models = {"mine": mine, "base": {"checkpoint": "a/c"}, "card": {"checkpoint": "a/d"}}
    plan = paper(models=models, cards={"card": ["belebele"]})
    use, params = plan.sources.checkpoint_use, plan.sources.checkpoint_params
    assert json.loads(use("mine")["encoding"]) == {"config": {"dimension": 64, "pooling": "cls"}}
    assert json.loads(use("me5_base")["encoding"])["models"]["query_prompt"] == "query: "
    assert use("card") == {"encoding": "{}"} and use("base") == use("xlmr") == use("mcontriever") == {}
    assert use("mbart") == use("mbart50") == {"generator": True}
    other = paper(models={"mine": {**mine, "encoding": {"pooling": "cls", "dimension": 32}}})
    assert other.sources.checkpoint_params("mine") == params("mine")


def test_each_key_of_an_encoding_is_said_once_by_the_first_who_says_it(paper):
    own = {"me5_base": {"encoding": {"query_prompt": "mine: "}}}
    said = paper(models=own).retrieval.encodings("mrtydi", "me5_base")
    assert said["config"] == {"query_prompt": "mine: "}
    assert said["models"] == {"pooling": "mean", "normalize": True, "passage_prompt": "passage: "}
    assert said["benchmark"]["query_length"] == 256 and "query_prompt" not in said["benchmark"]


@pytest.mark.parametrize("benchmark", ["mrtydi", "xor_retrieve", "nq"])
def test_a_pair_of_title_and_text_is_for_encoders_that_are_fine_tuned_on_it(paper, benchmark):
    plan = paper(models={"mcontriever_marco": {"encoding": {"passage_format": "title_text_pair"}}})
    formats = {model: plan.retrieval.encoding(benchmark, model).passage_format for model in ("mdpr_marco", "me5_base")}
    assert set(formats.values()) == {"title_text"}
    assert plan.retrieval.encoding(benchmark, "mcontriever_marco").passage_format == "title_text_pair"
    assert plan.retrieval.encoding("belebele", "mdpr_marco").passage_format == "text"
    for model in ("xlmr", "labse", "mcontriever", "msm", "kept"):
        assert plan.retrieval.encoding(benchmark, model).passage_format == "title_text_pair"


@pytest.mark.parametrize(("model", "length"), [("gte_mbase", 8192), ("mcontriever_marco", 512), ("mdpr_marco", 512)])
def test_plain_folders_read_as_much_as_their_cards_say_and_not_as_a_benchmark_would_have_it(paper, model, length):
    said = paper().retrieval.encodings("miracl", model)
    assert (said["models"]["query_length"], said["models"]["passage_length"]) == (length, length)
    assert not {"query_length", "passage_length"} & said["benchmark"].keys()


@pytest.mark.parametrize("benchmark", ["nq", "xor_retrieve", "xsa"])
def test_a_known_encoder_under_another_name_is_encoded_alike(paper, benchmark):
    name, copy = model_of("mcontriever_marco", {}, "copy")
    plan = paper(models={name: copy}).retrieval
    assert plan.encoding(benchmark, name) == plan.encoding(benchmark, "mcontriever_marco")


def test_models_with_a_place_for_an_instruction_get_the_benchmark_s(plan):
    assert "retrieve" in plan.retrieval.encoding("mrtydi", "qwen3_06b").instruction
    of_all = {name: entry.encoding for name, entry in catalogue.entries(Benchmark).items()}
    encoded = {name: encoding for name, encoding in of_all.items() if encoding and encoding.given()}
    assert {"mrtydi", "xor_retrieve", "nq", "mewsli_x", "lareqa", "tatoeba", "belebele", "xsa"} <= encoded.keys()
    walls = {
        name: {catalogue.entry(Dataset, key).wall for key in catalogue.entry(Benchmark, name).data} for name in encoded
    }
    lacking = {name for name, encoding in encoded.items() if not encoding.instruction and walls[name] != {"private"}}
    assert not lacking, "such a model cannot be used there"


def test_a_prompt_for_which_there_is_no_instruction_is_reported_before_its_weights_are_fetched(paper):
    own = catalogue.entry(Benchmark, "mrtydi").given() | {"encoding": {"passage_format": "text"}, "module": "mrtydi"}
    settings = {"own": {"direct": {"kind": "dense"}}}
    rows = [RunKey("own", model, "direct") for model in ("qwen3_06b", "mine", "me5_small", "told")]
    models = {
        "mine": {"checkpoint": "a/b", "encoding": {"query_prompt": "{instruction}: "}},
        "told": {"checkpoint": "a/c", "encoding": {"query_prompt": "{instruction}: ", "instruction": "Find it"}},
    }
    plan = paper(models=models, add_benchmarks={"own": own}, add_settings=settings)
    problems = [plan.rows.problem(row) for row in rows]
    assert problems[2:] == [None, None]
    for row, (state, reason) in zip(rows[:2], problems[:2], strict=True):
        assert state == "unavailable" and f"models.{row.model} one, as `encoding: {{instruction" in reason
    own["encoding"] = {"instruction": "Find it"}
    plan = paper(models=models, add_benchmarks={"own": own}, add_settings=settings)
    assert [plan.rows.problem(row) for row in rows] == [None] * 4


@pytest.mark.parametrize("key", TODAY)
def test_sizes_give_the_parameters_that_the_card_states(key):
    """Embeddings, and in each layer maps of queries, keys, values and output and two inner ones; a part in ten off."""
    sizes, stated = catalogue.entries(Checkpoint)[key], TODAY[key].parameters
    ours = sizes.vocabulary * sizes.width + sizes.layers * (4 * sizes.width**2 + 2 * sizes.width * sizes.inner)
    assert ours == pytest.approx(stated, rel=0.12), ours / stated


def test_a_model_is_encoded_as_the_trained_one_that_it_starts_from(paper):
    """A second pretraining is told what its base states, so its encoder must be evaluated in the same way."""
    own = {
        "mine": {"checkpoint": "some/hub", "encoding": {"pooling": "mean"}},
        "first": {"base": "mine", "recipe": "msm", "override": {"pooling": "cls"}, "encoding": {"query_prompt": "q: "}},
        "second": {"base": "first", "recipe": "msm"},
    }
    plan = paper(models=own)
    assert plan.pretraining.encoding("second") == """ --encoding '{"config":{"pooling":"cls","query_prompt":"q: "}}'"""
    assert plan.retrieval.encodings(None, "second") == {"config": {"pooling": "cls", "query_prompt": "q: "}}


# --- large models: Tatoeba in CCP, section 4.2, reads layer 14 of 24, and its mean ------------------------------------
BENCHMARKS = ["tatoeba", "tatoeba_pairs"]
TRAINED = {"mine": {"base": "xlmr_large", "recipe": "msm"}, "again": {"base": "mine", "recipe": "crop"}}
LARGE = ["xlmr_large", "infoxlm_large", "ccp", "msm_large", *TRAINED]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_large_public_models_and_all_trained_from_them_are_read_at_layer_14(paper, benchmark):
    plan = paper(models=TRAINED)
    for model in LARGE:
        found = plan.retrieval.encoding(benchmark, model)
        assert (found.layer, found.pooling) == (14, "mean"), model
        assert plan.retrieval.encoding("mrtydi", model).layer is None, "of this protocol alone"
    assert all(plan.retrieval.encoding(benchmark, model).layer is None for model in ("xlmr", "labse", "msm", "kept"))
    assert plan.retrieval.encoding(benchmark, "mbert").pooling == "mean"


@pytest.mark.parametrize(("scale", "layers", "layer"), [("miniature", 3, 2), ("small", 8, 5)])
def test_a_stand_in_and_all_trained_from_it_are_read_at_the_same_share_of_their_depth(jobs, scale, layers, layer):
    plan = jobs(scale=scale, models=TRAINED)
    assert plan.world.recipe("xlmr_large").layers == layers
    assert layer == round(layers * 14 / 24)
    for model in LARGE:  # all continue from the first
        assert plan.retrieval.encoding("tatoeba", model).layer == layer, model


def test_a_checkpoint_of_the_user_s_has_its_own_layers(miniature, tmp_path):
    plan = miniature(models={"xlmr_large": {"checkpoint": str(tmp_path)}, **TRAINED})
    assert {plan.retrieval.encoding("tatoeba", model).layer for model in ("xlmr_large", *TRAINED)} == {14}


def test_an_encoder_of_today_is_read_as_it_was_trained_however_deep_it_is(plan):
    for model in ("me5_large", "bge_m3", "embeddinggemma"):
        found = plan.retrieval.encodings("tatoeba", model)
        assert "layer" not in {key for values in found.values() for key in values}, model
        assert not {"pooling"} & found["benchmark"].keys(), model
