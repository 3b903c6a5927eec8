"""Each family of today's encoders gives sentence-transformers' vectors."""

import json

import numpy as np
import pytest
import torch
from sentence_transformers.sentence_transformer.modules import Dense
from tiny_models import make_folder
from todays_folders import (
    INSTRUCTION,
    causal_folder,
    change,
    gte_folder,
    modernbert_folder,
    sentence_transformer,
)

from stele.encoders.backbone import load_backbone
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.sources.weights.checkpoint_checks import check_settings

QUERIES = ["who wrote the first novel", "", "Кто написал роман о городе", "a b c d e f g " * 20, "日本 の 首都"]
PASSAGES = [("the city", "a novel of the city"), ("", "роман о городе"), ("Nile", ""), ("x", "a b c d " * 30)]
TEMPLATE = "title: {title} | text: "
FAMILIES = ["e5", "bge_m3", "gte", "qwen3", "gemma", "granite", "harrier"]


def made(place, family):
    """(folder, their model, our wanted encoding, their query prompt, what they are given of a passage)."""

    def with_space(title, text):
        return f"{title} {text}" if title and text else title or text

    if family == "e5":  # its folder states no prompts
        folder, theirs = sentence_transformer(place / "st", make_folder(place / "base"), "mean")
        (folder / "config_sentence_transformers.json").unlink()
        wanted = {"query_prompt": "query: ", "passage_prompt": "passage: "}
        return folder, theirs, wanted, "query: ", lambda *p: "passage: " + with_space(*p)
    if family in ("bge_m3", "gte", "granite"):
        bases = {"bge_m3": make_folder, "gte": gte_folder, "granite": modernbert_folder}
        folder, theirs = sentence_transformer(place / "st", bases[family](place / "base"), "cls")
        return folder, theirs, {}, "", with_space
    if family == "qwen3":
        base = causal_folder(place / "base", "qwen3", shards=True)
        assert len(list(base.glob("*.safetensors"))) > 1
        prompt = "Instruct: {instruction}\nQuery:"
        folder, theirs = sentence_transformer(place / "st", base, "lasttoken")
        wanted = {"models": {"query_prompt": prompt}, "benchmark": {"instruction": INSTRUCTION}}
        return folder, theirs, wanted, prompt.format(instruction=INSTRUCTION), with_space
    if family == "gemma":
        base = causal_folder(place / "base", "gemma3_text", bidirectional=True)
        prompts = {"query": "task: search result | query: ", "document": "title: none | text: "}
        heads = [Dense(*shape, bias=False, activation_function=torch.nn.Identity()) for shape in ((32, 64), (64, 32))]
        folder, theirs = sentence_transformer(place / "st", base, "mean", heads, prompts)

        def titled(title, text):
            return f"title: {title or 'none'} | text: {text}"

        return folder, theirs, {"passage_prompt": TEMPLATE}, prompts["query"], titled
    base = causal_folder(place / "base", "gemma3_text")  # no prompt of its folder is called query
    prompts = {"web_search_query": "Instruct: search\nQuery: ", "sts_query": "Instruct: like\nQuery: "}
    folder, theirs = sentence_transformer(place / "st", base, "lasttoken", prompts=prompts)
    return folder, theirs, {"prompt_name": "web_search_query"}, prompts["web_search_query"], with_space


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory):
    return request.param, *made(tmp_path_factory.mktemp(request.param), request.param)


def their_vectors(model, texts, one_by_one=False):
    batches = [[text] for text in texts] if one_by_one else [texts]
    return np.concatenate([model.encode(batch, prompt="", show_progress_bar=False) for batch in batches])


def distance(ours, theirs):
    return np.abs(ours - theirs).max()


def test_vectors_are_those_of_sentence_transformers(family):
    _, folder, theirs, wanted, prompt, passage = family
    encoder = load_encoder(folder, wanted)
    queries = their_vectors(theirs, [prompt + query for query in QUERIES], one_by_one=True)
    assert distance(encoder.encode(QUERIES, "query"), queries) < 1e-5
    assert distance(their_vectors(theirs, [prompt + query for query in QUERIES]), queries) < 1e-5  # theirs in a batch
    assert distance(encoder.encode(QUERIES[:1], "query"), queries[:1]) < 1e-5
    passages = their_vectors(theirs, [passage(*one) for one in PASSAGES], one_by_one=True)
    assert distance(encoder.encode([encoder.spec.passage(*one) for one in PASSAGES], "passage"), passages) < 1e-5


def test_its_settings_let_it_pass(family):
    """Before any benchmark is known that fills an {instruction} in, and before there are weights."""
    _, folder, _, wanted, *_ = family
    check_settings(folder, wanted if "models" in wanted else {"models": wanted})


# --- prompts of a folder ----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def harrier(tmp_path_factory):
    return made(tmp_path_factory.mktemp("named"), "harrier")[0]


def test_a_folder_whose_prompts_are_not_chosen_says_so(harrier):
    encoder = load_encoder(harrier)
    assert encoder.spec.query_prompt == ""
    (note,) = encoder.facts()["encoding_notes"]
    assert "names the prompts sts_query, web_search_query, and none is used" in note
    assert encoder.labels == ["none of the checkpoint's prompts used"]
    chosen = load_encoder(harrier, {"query_prompt": "mine: "})
    assert not chosen.notes and not chosen.labels
    by_name = load_encoder(harrier, {"config": {"prompt_name": "web_search_query"}})
    assert by_name.spec.query_prompt and "query_prompt" in by_name.facts()["encoding_decided_by"]["config"]
    with pytest.raises(SteleError, match="unknown prompt 'web_search'; did you mean 'web_search_query'"):
        load_encoder(harrier, {"prompt_name": "web_search"})


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"query_prompt": "Instruct: {instruct}"}, "unknown field 'instruct'; did you mean 'instruction'"),
        ({"query_prompt": "{title}: "}, "unknown field 'title'"),
        ({"query_prompt": "Instruct: {instruction}"}, "neither the benchmark nor the model gives one"),
        ({"include_prompt": False}, "state include_prompt: True, but False is requested"),
    ],
)
def test_templates_that_cannot_be_filled_are_refused(harrier, wanted, message):
    with pytest.raises(SteleError, match=message):
        load_encoder(harrier, wanted)


def test_a_tokenizer_that_has_lost_its_end_token_is_refused(tmp_path):
    folder = causal_folder(tmp_path / "base", "qwen3")
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**tokenizer, "post_processor": None}), encoding="utf-8")
    spec = {"pooling": "last", "query_length": 20, "passage_length": 20}
    assert load_encoder(folder, spec)  # nothing says that it should end in one
    change(folder / "tokenizer_config.json", add_eos_token=True)
    with pytest.raises(SteleError, match=r"sets add_eos_token, but tokenizer\.json's post-processor"):
        load_encoder(folder, spec)


def gpt2_folder(place):
    return make_folder(place, "gpt2")


@pytest.mark.parametrize("make", [make_folder, gte_folder, modernbert_folder, gpt2_folder])
def test_a_recipe_s_dropout_is_that_of_all_of_a_family_s_layers(tmp_path, make):
    model, _ = load_backbone(make(tmp_path), "cls", dropout=0.3)
    layers = [part for part in model.modules() if isinstance(part, torch.nn.Dropout)]
    assert layers and {layer.p for layer in layers} == {0.3}
