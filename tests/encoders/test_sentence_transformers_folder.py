"""Folders of sentence-transformers: what they state is read; what Stele does not support is refused."""

import json
import re
import shutil

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize
from tiny_models import WIDTH, make_folder
from todays_folders import causal_folder, change, modernbert_folder, sentence_transformer

from stele.encoders.load import load_encoder
from stele.errors import SteleError

TEXTS = ["who wrote the first novel", "the city", "Кто написал роман о городе"]


def st_folder(place, family="bert", pooling="mean", dense=None, normalize=True, prompts=None):
    """A folder made by sentence-transformers itself."""
    heads = [Dense(WIDTH, dense)] if dense else []
    base = make_folder(place / "base", family)
    return sentence_transformer(place / "st", base, pooling, heads, prompts, normalize, length=30)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert", "gpt2"])  # BERT's tokenizer makes types
@pytest.mark.parametrize(
    ("pooling", "dense", "normalize"), [("mean", None, True), ("cls", 24, True), ("mean", 16, False)]
)
def test_vectors_are_those_of_sentence_transformers(tmp_path, family, pooling, dense, normalize):
    folder, model = st_folder(tmp_path, family, pooling, dense, normalize)
    encoder = load_encoder(folder)
    assert (encoder.spec.pooling, encoder.spec.normalize, encoder.spec.query_length) == (pooling, normalize, 30)
    assert encoder.dimension == (dense or WIDTH)
    texts = [*TEXTS, "a b c d e f g " * 20, ("city", "the river Nile")]
    for kind in ("query", "passage"):
        theirs = np.concatenate([model.encode([text], show_progress_bar=False) for text in texts])
        assert np.abs(encoder.encode(texts, kind) - theirs).max() < 1e-5


@pytest.mark.parametrize("pooling", ["mean", "cls"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_heads_in_sixteen_bits_compute_what_they_do_in_float32(tmp_path, pooling, precision):
    """Also a Normalize between two Dense, which has no weights."""
    heads = [Dense(WIDTH, 48), Normalize(), Dense(48, 16, bias=False, activation_function=torch.nn.Identity())]
    sentence_transformer(tmp_path / "st", make_folder(tmp_path / "base"), pooling, heads, normalize=False)
    half = load_encoder(tmp_path / "st", {"weights": "bfloat16", "precision": precision})
    exact = load_encoder(tmp_path / "st")
    assert exact.dimension == half.dimension == 16
    for (model, heads), (half_model, half_heads) in zip(exact._towers.values(), half._towers.values(), strict=True):
        halves = {**half_model.state_dict(), **half_heads.state_dict()}
        assert {value.dtype for value in halves.values() if value.is_floating_point()} == {torch.bfloat16}
        model.load_state_dict(half_model.state_dict())  # the same rounded weights, in float32
        heads.load_state_dict(half_heads.state_dict())
    for kind in ("query", "passage"):
        wanted, vectors = exact.encode(TEXTS, kind), half.encode(TEXTS, kind)
        off = np.linalg.norm(vectors - wanted, axis=1) / np.linalg.norm(wanted, axis=1)
        assert 0 < off.max() < 0.05, off


def test_protocols_may_format_but_neither_cut_nor_pool_otherwise(tmp_path):
    folder, _ = st_folder(tmp_path)
    protocol = {"query_length": 12, "passage_length": 50, "passage_format": "text", "precision": "bfloat16"}
    spec = load_encoder(folder, {"benchmark": {**protocol, "pooling": "cls"}}).spec
    assert (spec.query_length, spec.passage_length) == (30, 30)  # the folder's own, as its public figures are made
    assert (spec.passage_format, spec.precision, spec.pooling) == ("text", "bfloat16", "mean")
    pairs = {"benchmark": {**protocol, "passage_format": "title_text_pair"}}  # how title and text are joined is its own
    encoder = load_encoder(folder, pairs)
    assert encoder.spec.passage_format == "title_text" and encoder.origins["passage_format"] == "folder"
    assert encoder.origins["query_length"] == encoder.origins["passage_length"] == "folder"
    pair = {"passage_format": "title_text_pair"}  # for the model itself it can be chosen
    assert load_encoder(folder, {"config": pair}).spec.passage_format == "title_text_pair"
    assert load_encoder(folder, {"pooling": "mean"}).spec.passage_format == "title_text"
    for said in ({"pooling": "cls"}, {"models": {"pooling": "cls"}}):
        with pytest.raises(SteleError, match=r"state pooling: 'mean', but 'cls' is requested; leave pooling out"):
            load_encoder(folder, said)
    with pytest.raises(SteleError, match="state normalize: True, but False is requested"):
        load_encoder(folder, {"config": {"normalize": False}})


def test_the_first_numbers_of_a_vector_have_length_one_again(tmp_path):
    folder, theirs = st_folder(tmp_path)
    vectors = theirs.encode(TEXTS, show_progress_bar=False)[:, :8]
    cut = load_encoder(folder, {"dimension": 8}).encode(TEXTS, "query")
    assert np.abs(cut - vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).max() < 1e-5


# --- every key is read, changes nothing, or is refused ----------------------------------------------------------------
BERT, MODEL = "sentence_bert_config.json", "config_sentence_transformers.json"
POOLING, DENSE, NORMALIZE = (f"{n}/config.json" for n in ("1_Pooling", "2_Dense", "3_Normalize"))
LONG = [*TEXTS, "", "a b c d e f g " * 20]


def edit(name, **values):
    return lambda folder: change(folder / name, **values)


def write(name, **values):
    return lambda folder: (folder / name).write_text(json.dumps(values))


def rename(name, **values):
    """The Transformer's settings under an older name."""
    return lambda folder: ((folder / BERT).unlink(), write(name, max_seq_length=9, **values)(folder))


def insert(place, kind):
    """One more module, without a folder of its own."""

    def spoil(folder):
        listing = json.loads((folder / "modules.json").read_text())
        listing.insert(place, {"name": f"more_{place}", "path": kind, "type": f"sentence_transformers.models.{kind}"})
        (folder / "modules.json").write_text(json.dumps(listing))

    return spoil


def both(*edits):
    return lambda folder: [each(folder) for each in edits]


TEXT = {"method": "forward", "method_output_name": "last_hidden_state"}
READ = {
    "older name": rename("sentence_xlm-roberta_config.json"),
    "the first name that says anything": both(write(BERT), write("sentence_albert_config.json", max_seq_length=9)),
    "query_length": edit(BERT, query_length=8),
    "document_length": edit(BERT, document_length=8),
    "lengths above the model's": edit(BERT, max_seq_length=9, query_length=20, document_length=25),
    "length of processing": edit(BERT, query_length=20, processing_kwargs={"text": {"max_length": 10}}),
    "length of the tokenizer": edit(BERT, processor_kwargs={"model_max_length": 11}),
    "older name of the tokenizer's": edit(
        BERT, tokenizer_args={"model_max_length": 11}, processor_kwargs={"model_max_length": 5}
    ),
    "truncate_dim": edit(MODEL, truncate_dim=6),
    "no Pooling's mode": write(POOLING, word_embedding_dimension=WIDTH),
    "Pooling's flags": write(POOLING, word_embedding_dimension=WIDTH, pooling_mode_cls_token=True),
    "two names of Pooling's mode": edit(POOLING, pooling_mode_cls_token=True, pooling_mode="mean"),
    "Dense's Tanh": edit(DENSE, activation_function="torch.nn.modules.activation.SiLU"),
    "Normalize before Dense": insert(2, "Normalize"),
}
NEUTRAL = {
    "the other names": write("sentence_roberta_config.json", max_seq_length=5),
    "processing as it is": edit(BERT, processing_kwargs={"text": {"padding": True, "truncation": True}}),
    "attention": edit(BERT, model_kwargs={"attn_implementation": "eager", "torch_dtype": "float32"}),
    "code": edit(BERT, config_args={"trust_remote_code": True}),
    "padding": edit(BERT, tokenizer_args={"padding_side": "right"}, unpad_inputs=False),
    "text": edit(BERT, modality_config={"text": TEXT}, module_output_name="token_embeddings"),
    "another prompt": edit(MODEL, prompts={"x": "x: "}, default_prompt_name="x", requirements={}),
    "Dense's output": edit(DENSE, module_output_name="sentence_embedding"),
    "Normalize's input": edit(NORMALIZE, module_input_name="sentence_embedding", module_output_name=None),
    "Dropout": insert(2, "Dropout"),
    "Dropout at the end": insert(4, "Dropout"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return st_folder(tmp_path_factory.mktemp("made"), dense=16)


@pytest.fixture
def folder(made, tmp_path):
    """A copy of a folder that pools the mean, with a Dense of 16 numbers and Normalize."""
    return shutil.copytree(made[0], tmp_path / "st")


def encoded(folder):
    """(ours, theirs) of queries and passages, one below the other."""
    encoder, theirs = load_encoder(folder), SentenceTransformer(str(folder), device="cpu")
    ours = [encoder.encode(LONG, kind) for kind in ("query", "passage")]
    return np.vstack(ours), np.vstack(
        [encode(LONG, show_progress_bar=False) for encode in (theirs.encode_query, theirs.encode_document)]
    )


@pytest.mark.parametrize("name", [*READ, *NEUTRAL])
def test_what_a_folder_states_is_read_as_sentence_transformers_reads_it(made, folder, name):
    (READ | NEUTRAL)[name](folder)
    ours, theirs = encoded(folder)
    assert ours.shape == theirs.shape and np.abs(ours - theirs).max() < 1e-5
    before = np.vstack([made[1].encode(LONG, show_progress_bar=False)] * 2)
    same = name in NEUTRAL or name in ("no Pooling's mode", "two names of Pooling's mode")  # the mean as before
    assert same is (before.shape == ours.shape and bool(np.abs(ours - before).max() < 1e-5))


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_a_shortened_vector_is_compared_as_there(tmp_path, similarity):
    """sentence-transformers shortens after Normalize, so that its vectors have not length 1."""
    folder, _ = st_folder(tmp_path)
    change(folder / MODEL, truncate_dim=6, similarity_fn_name=similarity)
    ours, theirs = encoded(folder)
    assert ours.shape == (2 * len(LONG), 6) and np.abs(ours - theirs).max() < 1e-5
    assert np.linalg.norm(ours, axis=1).max() < 0.9
    assert load_encoder(folder).cosine is (similarity == "cosine")
    shorter = load_encoder(folder, {"config": {"dimension": 4}}).encode(LONG, "query")
    assert np.abs(shorter - theirs[: len(LONG), :4]).max() < 1e-5


@pytest.mark.parametrize(("pooling", "include"), [("lasttoken", True), ("lasttoken", False), ("mean", True)])
def test_a_text_without_tokens_has_the_vector_that_it_has_there(tmp_path, pooling, include):
    """The zero vector: of a tokenizer that adds no special tokens nothing is left of an empty text, or of a prompt."""
    base = causal_folder(tmp_path / "base", "qwen3")
    tokenizer = json.loads((base / "tokenizer.json").read_text())
    (base / "tokenizer.json").write_text(json.dumps({**tokenizer, "post_processor": None}))
    prompts = {} if include else {"query": "find: "}
    folder, theirs = sentence_transformer(tmp_path / "st", base, pooling, prompts=prompts, normalize=False)
    change(folder / POOLING, include_prompt=include)
    theirs = type(theirs)(str(folder), device="cpu").encode_query(LONG, show_progress_bar=False)
    encoder, empty = load_encoder(folder), LONG.index("")
    assert not theirs[empty].any() and theirs[0].any()
    assert np.abs(encoder.encode(LONG, "query") - theirs).max() < 1e-5
    assert not encoder.encode([""], "query").any()  # where sentence-transformers fails


def test_a_length_that_no_file_states_is_that_of_its_kind_of_model(tmp_path):
    """config.json may leave out what its kind of model has by default, here 8,192 positions."""
    base = modernbert_folder(tmp_path)
    folder, theirs = sentence_transformer(tmp_path / "st", base, "mean")
    (folder / BERT).unlink()
    config = json.loads((folder / "config.json").read_text())
    del config["max_position_embeddings"]
    write("config.json", **config)(folder)
    change(folder / "tokenizer_config.json", model_max_length=10**30)
    text = ["a b c d e f g " * 1200]
    theirs = type(theirs)(str(folder), device="cpu").encode(text, show_progress_bar=False)
    assert np.abs(load_encoder(folder).encode(text, "passage") - theirs).max() < 1e-5


REFUSED = [
    (edit(POOLING, pooling_mode="max"), "1_Pooling/config.json: pooling max is not supported"),
    (edit(POOLING, pooling_mode=["cls", "mean"]), "1_Pooling/config.json: pooling cls + mean is not"),
    (write(POOLING, pooling_mode_weightedmean_tokens=True), "1_Pooling/config.json: pooling weightedmean is not"),
    (edit(POOLING, include_prompt=0), "1_Pooling/config.json: include_prompt: "),
    (
        edit(POOLING, pooling_modes="cls"),
        "1_Pooling/config.json: unknown key 'pooling_modes'; did you mean 'pooling_mode'",
    ),
    (lambda f: (f / POOLING).unlink(), "1_Pooling/config.json: no such file"),
    (edit(BERT, do_lower_case=True), "sentence_bert_config.json: do_lower_case: "),
    (rename("sentence_roberta_config.json", do_lower_case=True), "sentence_roberta_config.json: do_lower_case: "),
    (edit(BERT, transformer_task="fill-mask"), "sentence_bert_config.json: transformer_task: "),
    (edit(BERT, query_expansion={"length": 32}), "sentence_bert_config.json: query_expansion: "),
    (
        edit(BERT, processing_kwargs={"text": {"add_special_tokens": False}}),
        "processing_kwargs.text.add_special_tokens",
    ),
    (edit(BERT, processing_kwargs={"common": {"max_length": 9}}), "'processing_kwargs.common.max_length'"),
    (edit(BERT, processor_kwargs={"do_lower_case": True}), "'processor_kwargs.do_lower_case'"),
    (edit(BERT, tokenizer_args={"padding_side": "left"}), "tokenizer_args.padding_side: "),
    (edit("tokenizer_config.json", padding_side="left"), "padding_side 'left' moves the positions of a bert"),
    (edit(BERT, tokenizer_args={"truncation_side": "left"}), "'tokenizer_args.truncation_side'"),
    (edit(BERT, config_kwargs={"num_hidden_layers": 1}), "'config_kwargs.num_hidden_layers'"),
    (edit(BERT, config_args={"num_hidden_layers": 1}), "'config_args.num_hidden_layers'"),
    (edit(BERT, model_args={"num_hidden_layers": 1}), "'model_args.num_hidden_layers'"),
    (edit(BERT, model_kwargs={"dtype": "bfloat16"}), "sentence_bert_config.json: model_kwargs.dtype: "),
    (edit(BERT, model_args={"torch_dtype": "float16"}), "sentence_bert_config.json: model_args.torch_dtype: "),
    (
        edit(BERT, modality_config={"text": {**TEXT, "method_output_name": ["hidden_states", 1]}}),
        "modality_config.text.method_output_name: Input should be 'last_hidden_state' (found ['hidden_states', 1])",
    ),
    (edit(BERT, modality_config={"text": TEXT, "image": TEXT}), "'modality_config.image'"),
    (edit(BERT, module_output_name="sentence_embedding"), "sentence_bert_config.json: module_output_name: "),
    (edit(BERT, quark=1), "sentence_bert_config.json: unknown key 'quark'"),
    (edit(MODEL, truncate_dim=0), "config_sentence_transformers.json: truncate_dim: "),
    (edit(MODEL, truncate_dim=900), "dimension is 900, its vectors have 16 numbers"),
    (edit(MODEL, model_type="SparseEncoder"), "config_sentence_transformers.json: model_type: "),
    (edit(MODEL, quark=1), "config_sentence_transformers.json: unknown key 'quark'"),
    (
        edit(DENSE, activation_function="evil.GELU"),
        "2_Dense/config.json: activation_function 'evil.GELU' is not supported",
    ),
    (edit(DENSE, use_residual=True), "2_Dense/config.json: use_residual: "),
    (edit(DENSE, module_input_name="token_embeddings"), "2_Dense/config.json: module_input_name: "),
    (edit(DENSE, module_output_name="other"), "2_Dense/config.json: module_output_name: "),
    (edit(DENSE, in_features=7), "2_Dense/config.json: in_features is 7"),
    (lambda f: (f / "2_Dense/model.safetensors").unlink(), "no model.safetensors"),
    (edit(DENSE, out_features=1 << 40), "want weights of shape [1099511627776, "),
    (edit(NORMALIZE, module_input_name="token_embeddings"), "3_Normalize/config.json: module_input_name: "),
    (edit(NORMALIZE, module_output_name="other"), "3_Normalize/config.json: module_output_name: "),
    (write("adapter_config.json", peft_type="LORA"), "adapter_config.json: adapters are not supported"),
    (edit("config.json", quantization_config={"quant_method": "fp8"}), "config.json: its weights are quantised (fp8)"),
]


@pytest.mark.parametrize(("spoil", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_would_give_other_vectors_is_refused(folder, spoil, message):
    spoil(folder)
    with pytest.raises(SteleError, match=re.escape(message)):
        load_encoder(folder)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ({"type": "custom_st.Transformer"}, "module 'custom_st.Transformer' is its own code"),
        ({"name": "1"}, "name '1' appears twice"),
        ({"kwargs": ["task"]}, "modules.json: 0.kwargs: "),
        ({"quark": 1}, "unknown key '0.quark'"),
    ],
)
def test_an_entry_of_modules_that_means_something_else_is_refused(folder, module, message):
    listing = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([{**listing[0], **module}, *listing[1:]]))
    with pytest.raises(SteleError, match=re.escape(message)):
        load_encoder(folder)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (["Transformer", "Pooling", "WordWeights"], "module 'WordWeights' is not supported"),
        (["Transformer", "Normalize", "Pooling"], "modules are Transformer, Normalize, Pooling; want"),
    ],
)
def test_modules_of_sentence_transformers_that_are_not_supported_are_refused(folder, types, message):
    listing = [
        {"path": "" if i == 0 else f"{i}_X", "type": f"sentence_transformers.{name}"} for i, name in enumerate(types)
    ]
    (folder / "modules.json").write_text(json.dumps(listing))
    with pytest.raises(SteleError, match=message):
        load_encoder(folder)


def test_a_module_outside_the_folder_is_refused(folder):
    listing = json.loads((folder / "modules.json").read_text())
    listing[1]["path"] = "../../elsewhere"
    (folder / "modules.json").write_text(json.dumps(listing))
    with pytest.raises(SteleError, match=r"module Pooling: '\.\./\.\./elsewhere' could lead outside its folder"):
        load_encoder(folder)
