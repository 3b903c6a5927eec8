"""Folders of sentence-transformers: what they state is read; what Stele does not support is refused."""

import json

import numpy as np
import pytest
from tiny_models import WIDTH, make_folder

from stele.encoders.load import load_encoder
from stele.errors import SteleError

TEXTS = ["who wrote the first novel", "the city", "Кто написал роман о городе"]


def st_folder(place, family="bert", pooling="mean", dense=None, normalize=True, length=30, prompts=None):
    """A folder made by sentence-transformers itself."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    modules = [Transformer(str(make_folder(place / "base", family)), max_seq_length=length), Pooling(WIDTH, pooling)]
    if dense:
        modules.append(Dense(WIDTH, dense))
    if normalize:
        modules.append(Normalize())
    model = SentenceTransformer(modules=modules, device="cpu", prompts=prompts)
    model.save(str(place / "st"))
    return place / "st", model


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert"])
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


def test_prompts_are_those_of_encode_query_and_encode_document(tmp_path):
    folder, model = st_folder(tmp_path, prompts={"query": "who: ", "document": "the: "})
    encoder = load_encoder(folder)
    assert (encoder.spec.query_prompt, encoder.spec.passage_prompt) == ("who: ", "the: ")
    assert np.abs(encoder.encode(TEXTS, "query") - model.encode_query(TEXTS, show_progress_bar=False)).max() < 1e-5
    assert np.abs(encoder.encode(TEXTS, "passage") - model.encode_document(TEXTS, show_progress_bar=False)).max() < 1e-5
    assert np.abs(encoder.encode(TEXTS, "query") - encoder.encode(TEXTS, "passage")).max() > 1e-2


def test_protocols_may_format_but_neither_cut_nor_pool_otherwise(tmp_path):
    folder, _ = st_folder(tmp_path)
    protocol = {"query_length": 12, "passage_length": 50, "passage_format": "text", "precision": "bfloat16"}
    spec = load_encoder(folder, {"benchmark": protocol}).spec
    assert (spec.query_length, spec.passage_length) == (30, 30)  # the folder's own, as its public figures are made
    assert (spec.passage_format, spec.precision, spec.pooling) == ("text", "bfloat16", "mean")
    pairs = {"benchmark": {**protocol, "passage_format": "title_text_pair"}}  # how title and text are joined is its own
    assert load_encoder(folder, pairs).spec.passage_format == "title_text"
    assert load_encoder(folder, {"pooling": "mean"}).spec.passage_format == "title_text"
    with pytest.raises(SteleError, match=r"state pooling: 'mean', requested was 'cls'; leave pooling out"):
        load_encoder(folder, {"pooling": "cls"})


def test_a_plain_folder_states_nothing(tmp_path):
    with pytest.raises(SteleError, match="does not say how texts become vectors"):
        load_encoder(make_folder(tmp_path / "plain", "bert"))


def change(folder, name, **values):
    path = folder / name
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, **values}))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: change(f, "1_Pooling/config.json", pooling_mode="max"), "pooling max is not supported"),
        (lambda f: change(f, "1_Pooling/config.json", pooling_mode=["cls", "mean"]), r"pooling cls \+ mean is not"),
        (lambda f: change(f, "sentence_bert_config.json", do_lower_case=True), "do_lower_case is not supported"),
        (
            lambda f: change(f, "2_Dense/config.json", activation_function="evil.Run"),
            "activation 'Run' is not supported",
        ),
        (lambda f: change(f, "2_Dense/config.json", use_residual=True), "use_residual"),
        (lambda f: change(f, "2_Dense/config.json", in_features=7), "in_features is 7"),
        (lambda f: (f / "2_Dense/model.safetensors").unlink(), r"no model\.safetensors"),
        (lambda f: change(f, "2_Dense/config.json", out_features=1 << 40), r"want weights of shape \[1099511627776, "),
    ],
)
def test_what_would_give_other_vectors_is_refused(tmp_path, spoil, message):
    folder, _ = st_folder(tmp_path, dense=16)
    spoil(folder)
    with pytest.raises(SteleError, match=message):
        load_encoder(folder)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (["Transformer", "Pooling", "WordWeights"], "module 'WordWeights' is not supported"),
        (["Transformer", "Normalize", "Pooling"], "modules are Transformer, Normalize, Pooling; want"),
    ],
)
def test_modules_of_sentence_transformers_that_are_not_supported_are_refused(tmp_path, types, message):
    folder, _ = st_folder(tmp_path)
    listing = [{"path": "" if i == 0 else f"{i}_X", "type": f"st.{name}"} for i, name in enumerate(types)]
    (folder / "modules.json").write_text(json.dumps(listing))
    with pytest.raises(SteleError, match=message):
        load_encoder(folder)


def test_a_module_outside_the_folder_is_refused(tmp_path):
    folder, _ = st_folder(tmp_path)
    listing = json.loads((folder / "modules.json").read_text())
    listing[1]["path"] = "../../elsewhere"
    (folder / "modules.json").write_text(json.dumps(listing))
    with pytest.raises(SteleError, match=r"module Pooling: '\.\./\.\./elsewhere' could lead outside its folder"):
        load_encoder(folder)
