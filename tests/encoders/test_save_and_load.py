"""A saved encoder gives the same vectors in Stele, in transformers and in sentence-transformers."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from tiny_models import WIDTH, make_folder
from todays_folders import change
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, T5Config, T5EncoderModel

from stele.encoders.backbone import load_backbone
from stele.encoders.load import load_encoder
from stele.encoders.save import save_encoder, write_modules
from stele.encoders.tokenizer import load_tokenizer
from stele.errors import SteleError
from stele.recipes.encoding import SOME_INSTRUCTION, EncodingSpec
from tests.sealed import write_sealed

TEXTS = [
    "who wrote the novel",
    "Кто написал",
    "the river Nile flows through Uganda and Egypt " * 5,
    "",
    "日本 の 首都 は",
]
PAIRS = [("Uganda city", "the river Nile flows " * 12), ("novel", "a"), ("город", "роман о городе"), ("a b", "c d e")]


def save(place, source, spec, passage=None):
    model, _ = load_backbone(source, spec.pooling)
    second = load_backbone(passage, spec.pooling)[0] if passage else None
    save_encoder(place, model, second, load_tokenizer(source), spec)
    return place


@pytest.mark.parametrize("texts", [TEXTS, PAIRS], ids=["texts", "pairs"])
@pytest.mark.parametrize(
    ("family", "pooling", "normalize", "segments"),
    [
        ("xlm-roberta", "cls", False, False),
        ("xlm-roberta", "mean", True, False),
        ("xlm-roberta", "pooler", True, False),
        ("bert", "cls", False, False),
        ("bert", "mean", False, True),
        ("bert", "pooler", False, False),
        ("distilbert", "mean", False, False),
    ],
)
def test_three_libraries_give_one_vector(tmp_path, folders, family, pooling, normalize, segments, texts):
    spec = EncodingSpec(pooling=pooling, normalize=normalize, query_length=40, passage_length=40, segments=segments)
    folder = save(tmp_path / "saved", folders[family], spec)
    ours = load_encoder(folder).encode(texts, "passage")
    assert ours.dtype == np.float32
    assert ours.shape == (len(texts), WIDTH)

    theirs = SentenceTransformer(str(folder), device="cpu").encode(texts, show_progress_bar=False)
    assert np.abs(ours - theirs).max() < 1e-5

    # by hand with transformers, one text at a time: no padding, no bucket
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    for text, vector in zip(texts, ours, strict=True):
        text = (text,) if isinstance(text, str) else text
        inputs = tokenizer(*text, truncation="longest_first", max_length=40, return_tensors="pt")
        with torch.no_grad():
            out = model(**inputs)
        pooled = {"cls": out.last_hidden_state[:, 0], "mean": out.last_hidden_state.mean(1)}
        wanted = out.pooler_output if pooling == "pooler" else pooled[pooling]
        wanted = torch.nn.functional.normalize(wanted) if normalize else wanted
        assert np.abs(vector - wanted[0].numpy()).max() < 1e-5


def test_separate_towers_are_saved_and_loaded_each_as_it_is(tmp_path, folders):
    other = make_folder(tmp_path / "other", "xlm-roberta", seed=1)
    spec = EncodingSpec(pooling="mean", towers="separate", query_length=20, passage_length=40)
    folder = save(tmp_path / "two", folders["xlm-roberta"], spec, other)
    encoder = load_encoder(folder)
    assert encoder.spec == spec
    query, passage = encoder.encode(TEXTS[:2], "query"), encoder.encode(TEXTS[:2], "passage")
    assert not np.allclose(query, passage, atol=1e-2)
    for kind, ours in (("query", query), ("passage", passage)):
        theirs = SentenceTransformer(str(folder / kind), device="cpu").encode(TEXTS[:2], show_progress_bar=False)
        assert np.abs(ours - theirs).max() < 1e-5


@pytest.mark.parametrize("normalize", [True, False])
def test_shortened_vectors_and_filled_prompts_are_those_of_sentence_transformers(tmp_path, folders, normalize):
    spec = EncodingSpec(
        **{"pooling": "mean", "normalize": normalize, "dimension": 8, "query_length": 40, "passage_length": 40},
        **{"query_prompt": "Instruct: {instruction} Query: ", "passage_prompt": "title: {title} | text: "},
        instruction="find the novel",
    )
    folder = save(tmp_path / "saved", folders["xlm-roberta"], spec)
    theirs = SentenceTransformer(str(folder), device="cpu")
    assert theirs.similarity_fn_name == ("cosine" if normalize else "dot")
    trained = load_encoder(folder)
    (folder / "encoding.json").unlink()
    for encoder in (trained, load_encoder(folder)):
        for kind, encode in (("query", theirs.encode_query), ("passage", theirs.encode_document)):
            vectors = encoder.encode(TEXTS, kind)
            if normalize:
                vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            wanted = encode(TEXTS, normalize_embeddings=normalize, show_progress_bar=False)
            assert wanted.shape == (len(TEXTS), 8) and np.abs(vectors - wanted).max() < 1e-5
            assert encoder.cosine or encoder.spec.normalize == normalize


def test_a_pooler_that_is_only_suggested_is_not_applied_to_another_pooling(tmp_path, folders):
    folder = shutil.copytree(folders["bert"], tmp_path / "suggested")
    spec = EncodingSpec(pooling="pooler", query_length=20, passage_length=20)
    model, _ = load_backbone(folder, "pooler")
    write_modules(folder, model, spec, suggestion=True)
    wanted = spec.model_copy(update={"pooling": "cls"})
    plain, suggested = (load_encoder(place, wanted) for place in (folders["bert"], folder))
    assert np.array_equal(suggested.encode(TEXTS, "query"), plain.encode(TEXTS, "query"))
    assert np.abs(load_encoder(folder).encode(TEXTS, "query") - plain.encode(TEXTS, "query")).max() > 1e-2


def test_a_prompt_without_its_instruction_is_left_out_with_a_warning(tmp_path, folders, caplog):
    spec = EncodingSpec(pooling="mean", query_prompt="Instruct: {instruction} ", passage_prompt="p: ")
    model, _ = load_backbone(folders["xlm-roberta"], "mean")
    write_modules(tmp_path, model, spec.model_copy(update=SOME_INSTRUCTION))
    settings = json.loads((tmp_path / "config_sentence_transformers.json").read_text())
    assert settings["prompts"] == {"document": "p: "}
    assert "the prompt for query is not written for sentence-transformers" in caplog.text


@pytest.mark.parametrize("lengths", [(8, 20), (20, 8)])
def test_long_queries_and_passages_are_cut_in_sentence_transformers_as_here(tmp_path, folders, lengths):
    spec = EncodingSpec(pooling="mean", query_length=lengths[0], passage_length=lengths[1])
    encoder = load_encoder(save(tmp_path / "saved", folders["bert"], spec))
    theirs, texts = SentenceTransformer(str(tmp_path / "saved"), device="cpu"), ["a b c d e f g " * 5]
    for kind, encode in (("query", theirs.encode_query), ("passage", theirs.encode_document)):
        assert np.abs(encoder.encode(texts, kind) - encode(texts, show_progress_bar=False)).max() < 1e-5


def test_saved_bytes_do_not_depend_on_where_the_model_came_from(tmp_path, folders):
    spec = EncodingSpec(pooling="pooler", normalize=True, query_length=20, passage_length=20)
    copy = shutil.copytree(folders["bert"], tmp_path / "elsewhere" / "bert")
    one, two = save(tmp_path / "1", folders["bert"], spec), save(tmp_path / "2", copy, spec)
    files = sorted(p.relative_to(one) for p in one.rglob("*") if p.is_file())
    assert files == sorted(p.relative_to(two) for p in two.rglob("*") if p.is_file())
    for name in files:
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
        assert str(tmp_path).encode() not in (one / name).read_bytes(), name


def test_plain_folder_needs_a_spec(folders):
    for spec in (None, {}, {"query_length": 20}):
        with pytest.raises(SteleError, match=r"plain transformers folder.*pooling: cls"):
            load_encoder(folders["bert"], spec)


def test_a_trained_encoder_is_read_as_it_was_trained(tmp_path, folders):
    """What a benchmark's protocol or a model's entry says is for folders that do not say it themselves."""
    spec = EncodingSpec(pooling="cls", query_length=30, passage_length=30)
    folder = save(tmp_path / "s", folders["bert"], spec)
    assert load_encoder(folder, {"pooling": "mean", "passage_length": 64, "passage_format": "text"}).spec == spec
    assert load_encoder(folder, EncodingSpec(pooling="mean")).spec == spec
    assert load_encoder(folder, {"precision": "bfloat16"}).spec == spec.model_copy(update={"precision": "bfloat16"})
    with pytest.raises(SteleError, match="unknown key 'poling'"):
        load_encoder(folder, {"poling": "mean"})


def test_folders_that_cannot_be_encoders(tmp_path, folders):
    with pytest.raises(SteleError, match="no such folder"):
        load_encoder(tmp_path / "nothing", {"pooling": "cls"})
    (tmp_path / "empty").mkdir()
    with pytest.raises(SteleError, match=r"no config\.json"):
        load_encoder(tmp_path / "empty", {"pooling": "cls"})
    pickled = shutil.copytree(folders["bert"], tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(SteleError, match=r"found pytorch_model\.bin, want model\.safetensors"):
        load_encoder(pickled, {"pooling": "cls", "query_length": 20, "passage_length": 20})
    cut = shutil.copytree(folders["bert"], tmp_path / "cut")
    (cut / "model.safetensors").write_bytes((cut / "model.safetensors").read_bytes()[:1000])
    with pytest.raises(SteleError, match="not a readable safetensors file"):
        load_encoder(cut, {"pooling": "cls", "query_length": 20, "passage_length": 20})
    with pytest.raises(SteleError, match="query_length is 100, the model has 64 positions; add `max_length: 64`"):
        load_encoder(folders["xlm-roberta"], {"pooling": "cls", "query_length": 100, "passage_length": 20})
    asked = {"config": {"pooling": "cls", "max_length": 64}, "benchmark": {"query_length": 100}}
    assert load_encoder(folders["xlm-roberta"], asked).spec.query_length == 64, "as the error advises"


def test_weights_that_are_gone_from_a_folder_of_stele_s_are_made_again_by_one_command(tmp_path, folders):
    folder = shutil.copytree(folders["bert"], tmp_path / "work" / "pt0")
    (folder / "model.safetensors").unlink()
    write_sealed(folder / "record.json", {"job": "pretraining pretrain"})
    with pytest.raises(SteleError) as caught:
        load_encoder(folder, {"pooling": "cls", "query_length": 20, "passage_length": 20})
    assert f"{folder}: the weights that `pretraining pretrain` made are missing" in str(caught.value)
    assert f"`snakemake --force {folder}/record.json`" in str(caught.value)
    assert "sources checkpoint" not in str(caught.value)


def test_weights_that_do_not_fit_the_config_are_refused(tmp_path, folders):
    grown = shutil.copytree(folders["bert"], tmp_path / "grown")
    change(grown / "config.json", num_hidden_layers=3)
    with pytest.raises(SteleError, match="do not fit its config"):
        load_backbone(grown, "cls")


def test_the_encoder_of_a_family_with_a_decoder_is_refused_by_the_family_s_name(tmp_path):
    config = T5Config(vocab_size=9, d_model=WIDTH, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
    T5EncoderModel(config).save_pretrained(tmp_path)
    with pytest.raises(SteleError, match=r"config\.json: model type 't5' is not supported"):
        load_backbone(tmp_path, "mean")


def test_a_model_with_its_own_code_is_not_computed_without_it(tmp_path, folders):
    """As those that make a model which reads from left to right read both ways."""
    own = shutil.copytree(folders["bert"], tmp_path / "own")
    change(own / "config.json", auto_map={"AutoModel": "modeling_own.OwnModel"})
    with pytest.raises(SteleError, match=r"own/config\.json: brings its own code \(auto_map\)"):
        load_encoder(own, {"pooling": "cls", "query_length": 20, "passage_length": 20})


def test_relative_positions_that_transformers_no_longer_computes_are_refused(tmp_path, folders):
    relative = shutil.copytree(folders["bert"], tmp_path / "relative")
    change(relative / "config.json", position_embedding_type="relative_key")
    weights = load_file(relative / "model.safetensors")
    weights["encoder.layer.0.attention.self.distance_embedding.weight"] = torch.ones(127, WIDTH // 2)
    save_file(weights, relative / "model.safetensors", {"format": "pt"})
    with pytest.raises(SteleError, match="found a bert with relative positions"):
        load_backbone(relative, "mean")


def test_a_pooler_that_was_never_trained_is_not_used(tmp_path):
    folder = make_folder(tmp_path / "m", "xlm-roberta", pooler=False)
    spec = {"pooling": "pooler", "query_length": 20, "passage_length": 20}
    with pytest.raises(SteleError, match="no pooler weights"):
        load_encoder(folder, spec)
    assert load_encoder(folder, {**spec, "pooling": "cls"}).model("query").pooler is None
    one, new = load_backbone(folder, "pooler", seed=5)
    two, _ = load_backbone(folder, "pooler", seed=5)
    other, _ = load_backbone(folder, "pooler", seed=6)
    assert new == ["pooler.dense.bias", "pooler.dense.weight"]
    assert torch.equal(one.pooler.dense.weight, two.pooler.dense.weight)
    assert not torch.equal(one.pooler.dense.weight, other.pooler.dense.weight)
    with pytest.raises(SteleError, match="has no pooler"):
        load_backbone(make_folder(tmp_path / "d", "distilbert"), "pooler", seed=1)


@pytest.mark.parametrize("family", ["xlm-roberta", "bert", "distilbert"])
def test_heads_of_other_tasks_are_left_out(tmp_path, folders, family):
    """A checkpoint as published, with its masked-language-model head and without a pooler."""
    published = AutoModelForMaskedLM.from_pretrained(folders[family])
    published.save_pretrained(tmp_path / "mlm")
    backbone, new = load_backbone(tmp_path / "mlm", "cls")
    assert new == []
    assert getattr(backbone, "pooler", None) is None
    inside = getattr(published, published.base_model_prefix).state_dict()
    assert all(torch.equal(value, inside[name]) for name, value in backbone.state_dict().items())


def test_loading_leaves_the_global_random_state_alone(tmp_path):
    folder = make_folder(tmp_path / "m", "bert", pooler=False)
    before = torch.get_rng_state()
    load_backbone(folder, "pooler", seed=3)
    assert torch.equal(before, torch.get_rng_state())


def test_a_layer_below_the_last(tmp_path, folders):
    deep = make_folder(tmp_path / "deep", "xlm-roberta", layers=3)
    spec = {"pooling": "mean", "layer": 2, "query_length": 20, "passage_length": 20}
    encoder = load_encoder(deep, spec)
    ids = torch.tensor([encoder.tokenize(["who wrote"], "query").ids.tolist()])
    states = AutoModel.from_pretrained(deep).eval()(ids, output_hidden_states=True).hidden_states
    actual = encoder.encode(["who wrote"], "query")[0]
    assert np.abs(actual - states[2][0].mean(0).detach().numpy()).max() < 1e-5
    assert np.abs(actual - states[3][0].mean(0).detach().numpy()).max() > 1e-2
    with pytest.raises(SteleError, match="layer 4 is requested, but the model has 3"):
        load_encoder(deep, {**spec, "layer": 4})


def test_dpr_tokenizer_classes_are_not_used(tmp_path, folders):
    """They lower-case although do_lower_case is false."""
    folder = shutil.copytree(folders["bert"], tmp_path / "dpr")
    change(folder / "tokenizer_config.json", tokenizer_class="DPRQuestionEncoderTokenizer")
    tokenizer = load_tokenizer(folder)
    assert not type(tokenizer).__name__.startswith("DPR")
    assert tokenizer("Uganda Egypt")["input_ids"] == load_tokenizer(folders["bert"])("Uganda Egypt")["input_ids"]
    assert tokenizer("Uganda Egypt")["input_ids"] != tokenizer("uganda egypt")["input_ids"]
