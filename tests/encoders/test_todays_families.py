"""Each family of today's encoders gives sentence-transformers' vectors."""

import json

import numpy as np
import pytest
import torch
from tiny_models import WIDTH, make_folder
from todays_folders import (
    INSTRUCTION,
    LENGTH,
    causal_folder,
    change,
    gte_folder,
    modernbert_folder,
    sentence_transformer,
)

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
        folder, theirs = sentence_transformer(place / "st", base, "mean", dense=(64, WIDTH), prompts=prompts)

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


def layers(wanted, **config):
    """What is wanted as models.yaml's, with more of config.yaml's."""
    return {**(wanted if "models" in wanted else {"models": wanted}), "config": config}


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


def test_a_protocol_that_pairs_title_and_text_changes_nothing(family):
    """Mr. TyDi's, XOR-Retrieve's and NQ's: what papers fine-tune on; this encoder reads title, blank, text, as ever."""
    _, folder, theirs, wanted, _, passage = family
    protocol = {**wanted.get("benchmark", {}), "passage_format": "title_text_pair", "passage_length": 256}
    encoder = load_encoder(folder, {**layers(wanted), "benchmark": protocol})
    passages = their_vectors(theirs, [passage(*one) for one in PASSAGES], one_by_one=True)
    assert distance(encoder.encode([encoder.spec.passage(*one) for one in PASSAGES], "passage"), passages) < 1e-5
    assert "passage_format" in encoder.facts()["encoding_decided_by"]["folder"]


def test_a_pair_that_the_model_s_entry_asks_for_is_read_as_one(family):
    """config.yaml and models.yaml come before the folder."""
    name, folder, theirs, wanted, _, passage = family
    encoder = load_encoder(folder, layers(wanted, passage_format="title_text_pair"))
    texts = [encoder.spec.passage(*one) for one in PASSAGES[:1]]
    their_own = their_vectors(theirs, [passage(*PASSAGES[0])])
    assert encoder.spec.fills_titles or distance(encoder.encode(texts, "passage"), their_own) > 1e-3, name


def test_its_settings_let_it_pass(family):
    """Before any benchmark is known that fills an {instruction} in, and before there are weights."""
    _, folder, _, wanted, *_ = family
    check_settings(folder, layers(wanted))


def test_pooling_and_normalisation_of_a_folder_cannot_be_overruled(family):
    _, folder, *_ = family
    stated = load_encoder(folder, {"query_prompt": "x"}).spec
    other = "mean" if stated.pooling != "mean" else "last"
    with pytest.raises(SteleError, match=f"state pooling: '{stated.pooling}', but '{other}' is requested"):
        load_encoder(folder, {"models": {"pooling": other, "query_prompt": "x"}})
    with pytest.raises(SteleError, match="state normalize: True, but False is requested"):
        load_encoder(folder, {"config": {"normalize": False}})
    assert load_encoder(folder, {"benchmark": {"pooling": other}}).spec.pooling == stated.pooling


def test_half_of_the_numbers_has_length_one_again(family):
    _, folder, theirs, wanted, prompt, _ = family
    cut = load_encoder(folder, layers(wanted, dimension=8))
    vectors = their_vectors(theirs, [prompt + query for query in QUERIES])[:, :8]
    expected = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert cut.dimension == 8
    assert distance(cut.encode(QUERIES, "query"), expected) < 1e-5
    with pytest.raises(SteleError, match=r"dimension is 4096, its vectors have \d+ numbers"):
        load_encoder(folder, {"query_prompt": "x", "dimension": 4096})


def test_sixteen_bits_are_held_and_give_nearly_the_same(family):
    _, folder, _, wanted, *_ = family
    full, half = load_encoder(folder, wanted), load_encoder(folder, layers(wanted, weights="bfloat16"))
    assert {parameter.dtype for parameter in half.model("query").parameters()} == {torch.bfloat16}
    ours, theirs = full.encode(QUERIES, "query"), half.encode(QUERIES, "query")
    cosines = (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    assert cosines.min() >= 0.995


def test_who_decided_each_key_is_known(family):
    _, folder, _, wanted, *_ = family
    said = layers(wanted, query_length=10, passage_length=10**4)
    encoder = load_encoder(folder, {**said, "benchmark": {"passage_format": "text", **said.get("benchmark", {})}})
    assert (encoder.spec.query_length, encoder.spec.passage_length) == (10, LENGTH)  # shorter, never longer
    decided = encoder.facts()["encoding_decided_by"]
    assert "query_length" in decided["config"] and "passage_format" in decided["benchmark"]
    assert {"pooling", "normalize", "passage_length"} <= {*decided["folder"]}


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
