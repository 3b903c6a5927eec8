"""A trained encoder reads texts as its base did, in Stele and in sentence-transformers alike."""

import json
from shutil import copytree

import numpy as np
import pytest
from pretrain_runs import arguments
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tiny_checkpoint import WIDTH, recorded

from stele.artifacts.records import read_record
from stele.command.cli import main
from stele.encoders.load import load_encoder
from stele.recipes.encoding import EncodingSpec, write_spec

TEXTS = ["w1 w2 w3", "w7", " ".join(f"w{n % 60}" for n in range(30)), "w5 w5 w9 w10"]
PROMPTS = {"query": "w70 w71 ", "document": "w72 "}


def published(base, place, pooling="mean", prompts=PROMPTS, **options):
    """The base as a sentence-transformers folder that scales to length 1, reads 10 tokens and has prompts."""
    modules = [Transformer(str(base.parent), max_seq_length=10, **options), Pooling(WIDTH, pooling), Normalize()]
    SentenceTransformer(modules=modules, device="cpu", prompts=prompts).save(str(place))
    return recorded(place)


def same_in_both(folder):
    """The encoder of a folder, whose vectors are those of sentence-transformers."""
    encoder, theirs = load_encoder(folder), SentenceTransformer(str(folder), device="cpu")
    for kind, encode in (("query", theirs.encode_query), ("passage", theirs.encode_document)):
        vectors = np.concatenate([encode([text], show_progress_bar=False) for text in TEXTS])
        assert np.abs(encoder.encode(TEXTS, kind) - vectors).max() < 1e-5
    return encoder


@pytest.mark.parametrize("objective", ["msm", "crop", "ict", "ccp", "mlm"])
def test_what_is_trained_keeps_its_base_s_encoding(tmp_path, base, pairs, objective):
    start = published(base, tmp_path / "base")
    assert main(arguments(tmp_path, start, pairs, objective, snapshots=[2])) == 0
    record = read_record(tmp_path / "out/record.json")
    for folder in (tmp_path / "out", tmp_path / "out/snapshots/step-2"):
        assert same_in_both(folder).spec == load_encoder(start).spec
    assert record["pooling"] == (None if objective == "mlm" else "mean") and not record["encoding_changes"]
    assert "not encoded as its base" not in record["labels"]


def test_what_is_trained_keeps_its_base_s_chat_template(tmp_path, base, pairs):
    """It lacked chat_template.jinja, so that it could not be loaded after its training."""
    (plain := copytree(base.parent, tmp_path / "plain")).joinpath("chat_template.jinja").write_text(
        "{% for m in messages %}w1 {{ m.content }} w2{% endfor %}"
    )
    start = published(plain / "record.json", tmp_path / "base")
    assert load_encoder(start).chat
    assert main(arguments(tmp_path, start, pairs)) == 0
    assert same_in_both(tmp_path / "out").chat


def test_what_is_said_of_a_base_beside_its_folder_is_kept_and_written(tmp_path, base, pairs):
    """Its folder names no prompts, as e5's: models.yaml does."""
    said = {"models": {"query_prompt": "w60 ", "passage_length": 7}}
    start = published(base, tmp_path / "base", prompts={}, processing_kwargs={"text": {"max_length": 10}})
    assert main([*arguments(tmp_path, start, pairs), "--encoding", json.dumps(said)]) == 0
    spec = same_in_both(tmp_path / "out").spec
    assert spec == load_encoder(start, said).spec and (spec.query_prompt, spec.passage_length) == ("w60 ", 7)
    (tmp_path / "plain").mkdir()
    said = {"config": {"pooling": "mean", "normalize": True, "max_length": 20}}
    assert main([*arguments(tmp_path / "plain", base, pairs), "--encoding", json.dumps(said)]) == 0
    assert same_in_both(tmp_path / "plain/out").spec.normalize
    assert read_record(tmp_path / "plain/out/record.json")["pooling"] == "mean"


@pytest.mark.parametrize("place", ["beside the folder", "in the folder"])
def test_a_known_instruction_is_written_into_the_prompt(tmp_path, base, pairs, place):
    said, of_query = {"instruction": "w60"}, {"query": "{instruction} "}
    if place == "beside the folder":
        said |= {"query_prompt": of_query.pop("query")}
    start = published(base, tmp_path / "base", prompts=PROMPTS | of_query)
    assert main([*arguments(tmp_path, start, pairs), "--encoding", json.dumps({"config": said})]) == 0
    assert same_in_both(tmp_path / "out").spec.query_prompt == "w60 "


def test_the_recipe_may_say_another_pooling_and_says_so(tmp_path, base, pairs, capsys):
    start = published(base, tmp_path / "base")
    assert main(arguments(tmp_path, start, pairs, pooling="cls")) == 0
    record = read_record(tmp_path / "out/record.json")
    encoder = same_in_both(tmp_path / "out")
    assert encoder.spec == load_encoder(start).spec.model_copy(update={"pooling": "cls"})
    assert record["encoding_changes"] == ["pooling: 'mean' became 'cls'"] and record["pooling"] == "cls"
    assert "not encoded as its base" in record["labels"] and "'mean' became 'cls'" in capsys.readouterr().err


@pytest.mark.parametrize(("objective", "pooling"), [("msm", "cls"), ("moco", "mean"), ("mlm", "mean")])
def test_a_plain_base_s_encoder_suggests_its_training_s_pooling(tmp_path, base, pairs, objective, pooling):
    """Nobody says a pooling: as in sentence-transformers. A benchmark or a model says one: all that it says, alone."""
    assert main(arguments(tmp_path, base, pairs, objective)) == 0
    suggested = same_in_both(tmp_path / "out")
    assert (suggested.spec.pooling, suggested.spec.query_length) == (pooling, 38)
    wanted = {"models": {"pooling": "pooler"}, "benchmark": {"query_length": 8, "passage_length": 20}}
    assert load_encoder(tmp_path / "out", wanted).spec == EncodingSpec(
        pooling="pooler", query_length=8, passage_length=20
    )


def test_a_suggestion_that_was_overruled_for_a_training_is_not_passed_on(tmp_path, base, pairs):
    """sentence-transformers would pool a model by its base's suggestion, cls, though it was trained by the mean."""
    (tmp_path / "first").mkdir()
    assert main(arguments(tmp_path / "first", base, pairs)) == 0
    assert load_encoder(tmp_path / "first/out").spec.pooling == "cls"
    said = {"config": {"pooling": "mean", "normalize": True, "max_length": 20}}
    start = tmp_path / "first/out/record.json"
    assert main([*arguments(tmp_path, start, pairs), "--encoding", json.dumps(said)]) == 0
    suggested = same_in_both(tmp_path / "out").spec
    assert (suggested.pooling, suggested.normalize, suggested.query_length) == ("mean", True, 20)
    assert read_record(tmp_path / "out/record.json")["pooling"] == "mean"


def test_a_fine_tuned_base_is_still_read_as_it_was_fine_tuned(tmp_path, base, pairs):
    """Its encoding is kept; the last token's states are no vectors that a pretraining makes."""
    copytree(base.parent, tmp_path / "tuned")
    spec = EncodingSpec(pooling="mean", normalize=True, query_length=9, passage_length=15)
    write_spec(tmp_path / "tuned", spec)
    assert main(arguments(tmp_path, recorded(tmp_path / "tuned"), pairs)) == 0
    assert load_encoder(tmp_path / "out").spec == spec
    write_spec(tmp_path / "tuned", spec.model_copy(update={"pooling": "last"}))
    assert main(arguments(tmp_path, recorded(tmp_path / "tuned"), pairs)) == 1
