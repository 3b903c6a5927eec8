"""Who decides how a folder's texts become vectors: what is said first wins, and what is left undone is said."""

import pytest
from tiny_models import make_folder
from todays_folders import LENGTH, change, difference, sentence_transformer

from stele.encoders.load import load_encoder
from stele.encoders.resolve import resolve
from stele.errors import SteleError

PROMPTS = {"query": "who: ", "web_search": "web: ", "document": ""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("decides")
    return sentence_transformer(place / "st", make_folder(place / "base"), "mean", prompts=PROMPTS)[0]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return make_folder(tmp_path_factory.mktemp("plain") / "base")


@pytest.mark.parametrize(
    ("said", "key", "value", "origin"),
    [
        # the name of a prompt and its text are one thing to say
        (
            {"config": {"prompt_name": "web_search"}, "models": {"query_prompt": "m: "}},
            "query_prompt",
            "web: ",
            "config",
        ),
        ({"config": {"query_prompt": "c: "}, "models": {"prompt_name": "web_search"}}, "query_prompt", "c: ", "config"),
        (
            *({"models": {"prompt_name": "web_search"}, "benchmark": {"query_prompt": "b: "}}, "query_prompt"),
            *("web: ", "models"),
        ),
        ({"config": {"dimension": 8}, "models": {"query_prompt": "m: "}}, "query_prompt", "m: ", "models"),
        ({"config": {"dimension": 8}}, "query_prompt", "who: ", "folder"),
        # and so are a length and max_length, of which the smaller holds within one origin
        ({"config": {"query_length": 20}, "models": {"max_length": 10}}, "query_length", 20, "config"),
        ({"config": {"max_length": 10}, "models": {"query_length": 20}}, "query_length", 10, "config"),
        ({"models": {"max_length": 10, "query_length": 20}}, "query_length", 10, "models"),
        ({"models": {"max_length": 10}, "benchmark": {"query_length": 8}}, "query_length", 10, "models"),
    ],
)
def test_what_is_said_first_holds(folder, said, key, value, origin):
    found = resolve(folder, said)
    assert (getattr(found.spec, key), found.origins[key]) == (value, origin)


def test_two_prompts_of_one_origin_are_refused(folder):
    with pytest.raises(SteleError, match="prompt_name and query_prompt both set the prompt of a query"):
        resolve(folder, {"config": {"prompt_name": "web_search", "query_prompt": "c: "}})


@pytest.mark.parametrize(
    ("wanted", "note"),
    [
        ({"config": {"query_length": 8000}}, f"query_length: 8000 was asked for; its folder says {LENGTH}"),
        ({"config": {"max_length": 8000}}, f"max_length: 8000 makes no text longer: query_length is {LENGTH}"),
    ],
)
def test_a_length_that_cannot_be_met_is_said(folder, wanted, note):
    found = resolve(folder, wanted)
    assert found.spec.query_length == LENGTH and note in found.notes[0] and not found.unprompted
    assert not load_encoder(folder, wanted).labels


def test_a_benchmark_s_length_stays_what_a_plain_folder_reads_at_most(plain):
    protocol = {"benchmark": {"query_length": 16, "passage_length": 16}}
    found = resolve(plain, {"config": {"pooling": "mean", "max_length": 32}, **protocol})
    assert found.spec.query_length == 16
    assert found.notes == [f"max_length: 32 makes no text longer: {side}_length is 16" for side in ("query", "passage")]
    longer = resolve(plain, {"config": {"pooling": "mean", "query_length": 32}, **protocol})
    assert longer.spec.query_length == 32 and not longer.notes


def test_prompts_are_chosen_as_sentence_transformers_chooses(tmp_path):
    """It looks for `query` and `document` alone, which are empty where a folder does not name them."""
    texts = ["who wrote the first novel", "the city"]
    for number, prompts in enumerate([{"query": "q: ", "passage": "p: "}, {"corpus": "c: "}, {"document": "d: "}]):
        place = tmp_path / str(number)
        folder, _ = sentence_transformer(place / "st", make_folder(place / "base"), "mean", prompts=prompts)
        change(folder / "config_sentence_transformers.json", default_prompt_name=next(iter(prompts)))
        assert difference(folder, texts) < 1e-5, prompts
        assert load_encoder(folder).unprompted is ("document" not in prompts)


def test_a_prompt_of_queries_that_has_another_name_is_said_though_passages_have_theirs(tmp_path):
    prompts = {"Retrieval-query": "r: ", "document": "d: "}
    folder, _ = sentence_transformer(tmp_path / "st", make_folder(tmp_path / "base"), "mean", prompts=prompts)
    found = resolve(folder)
    assert found.unprompted and "names the prompts Retrieval-query, and none is used for queries" in found.notes[0]
    assert not resolve(folder, {"models": {"query_prompt": ""}}).notes  # none is what its entry wants


@pytest.mark.parametrize("pooling", ["mean", "cls", "lasttoken"])
def test_a_prompt_that_is_not_pooled_is_left_out_as_there(tmp_path, pooling):
    prompts = {"query": "who wrote: ", "document": ""}
    folder, theirs = sentence_transformer(tmp_path / "st", make_folder(tmp_path / "base"), pooling, prompts=prompts)
    change(folder / "1_Pooling/config.json", include_prompt=False)
    texts = ["who wrote the first novel", "a b c d e f g " * 20]
    left_out = type(theirs)(str(folder), device="cpu").encode_query(texts, show_progress_bar=False)
    assert abs(load_encoder(folder).encode(texts, "query") - left_out).max() < 1e-5
    whole = theirs.encode_query(texts, show_progress_bar=False)
    assert bool(abs(left_out - whole).max() > 1e-3) is (pooling != "lasttoken")


def test_texts_are_cut_on_the_side_that_the_tokenizer_says(tmp_path):
    folder, theirs = sentence_transformer(tmp_path / "st", make_folder(tmp_path / "base"), "mean")
    change(folder / "tokenizer_config.json", truncation_side="left")
    texts = ["the river Nile " + "a b c d e f g " * 20 + "who wrote the first novel"]
    left = type(theirs)(str(folder), device="cpu").encode(texts, show_progress_bar=False)
    assert abs(load_encoder(folder).encode(texts, "passage") - left).max() < 1e-5
    assert abs(theirs.encode(texts, show_progress_bar=False) - left).max() > 1e-3


# --- texts of one kind ------------------------------------------------------------------------------------------------
def test_passages_that_are_read_as_queries_have_their_prompt(folder, plain):
    said = {"models": {"query_prompt": "q: ", "passage_prompt": "p: "}, "benchmark": {"passages_as_queries": True}}
    found = resolve(folder, said)
    assert found.spec.query_prompt == found.spec.passage_prompt == "q: " and found.spec.of_one_kind
    assert found.spec.query_length == found.spec.passage_length
    assert found.origins["passage_prompt"] == "benchmark" and "passages_as_queries" not in found.spec.facts()
    title = {"models": {"query_prompt": "q: ", "passage_prompt": "title: {title} | "}, "benchmark": said["benchmark"]}
    assert not resolve(folder, title).spec.fills_titles
    unprompted = resolve(plain, {"models": {"pooling": "mean"}, **{"benchmark": said["benchmark"]}})
    assert "passage_prompt" not in unprompted.origins  # nothing changed


def test_towers_of_their_own_stay_apart(plain):
    said = {"config": {"pooling": "mean", "towers": "separate", "query_prompt": "q: "}}
    assert resolve(plain, {**said, "benchmark": {"passages_as_queries": True}}).spec.passage_prompt == ""


@pytest.mark.parametrize(
    ("model_type", "positions"),
    [
        *(("data2vec-text", 64), ("ibert", 64), ("luke", 64), ("mpnet", 64), ("roberta-prelayernorm", 64)),
        *(("xlm-roberta", 64), ("xlm-roberta-xl", 64), ("xmod", 64), ("bert", 66)),
    ],
)
def test_positions_that_a_family_keeps_for_itself_are_read_of_none(tmp_path, model_type, positions):
    """Without a stated length: of MPNet and XLM-R XL as of RoBERTa, two of 66 are before the first token's."""
    folder, _ = sentence_transformer(tmp_path / "st", make_folder(tmp_path / "base"), "mean")
    (folder / "sentence_bert_config.json").unlink()
    change(folder / "config.json", model_type=model_type)
    change(folder / "tokenizer_config.json", model_max_length=1000)
    assert resolve(folder).spec.query_length == positions


@pytest.mark.parametrize(("key", "default", "other"), [("weights", "float32", "bfloat16"), ("dimension", None, 8)])
def test_a_default_that_overrules_another_value_is_recorded(plain, key, default, other):
    """So a result in float32 of a model with 16 bits can be told apart, and its command repeats it."""
    lengths = {"pooling": "mean", "query_length": 16, "passage_length": 16}
    facts = load_encoder(plain, {"config": {**lengths, key: default}, "models": {key: other}}).facts()
    assert facts["encoding"][key] == default and key in facts["encoding_decided_by"]["config"]
    again = load_encoder(plain, {"config": facts["encoding"], "models": {key: other}})
    assert again.facts()["encoding"] == facts["encoding"]
    assert key not in load_encoder(plain, lengths).facts()["encoding"]
