"""The cross-encoder: what is tuned and reset, whatever the family; scores as sentence-transformers has them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import WIDTH, make_folder, make_gemma_folder
from transformers import AutoTokenizer, BertForSequenceClassification

from stele.encoders.backbone import load_backbone
from stele.errors import SteleError
from stele.recipes.reranking import parse_recipe
from stele.reranking.folds import cross_validation
from stele.reranking.folds.cross_validation import loss_of, scored
from stele.reranking.scorers import Sources, cross_encoder

VALUES = {"scorer": "cross_encoder", "batch": 2, "learning_rate": 1e-3, "length": 32}
VALUES |= {"tuned_layers": 2, "reset_layers": 1}


def made(judged, folder: Path, seed: int = 1, **changes):
    recipe = parse_recipe({**VALUES, **changes})
    given = Sources("en", "de", folder, None, None)
    return cross_encoder.Scorer(judged, recipe, given).new_module(seed)


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "distilbert"])
@pytest.mark.parametrize("head", ["cls", "pooler"])
def test_the_last_layers_alone_are_tuned(tmp_path, judged, family, head):
    folder = make_folder(tmp_path / family, family, layers=4)
    if (family, head) == ("distilbert", "pooler"):
        with pytest.raises(SteleError, match="has no pooler"):
            made(judged, folder, head=head)
        return
    module = made(judged, folder, head=head, loss="pointwise")
    loss_of(module(np.array([0, 4, 1, 5])), "pointwise").backward()
    parameters = dict(module.backbone.named_parameters())
    moved = {name for name, value in parameters.items() if value.grad is not None and value.grad.abs().sum() > 0}
    last = {name for name in parameters if "layer.2." in name or "layer.3." in name}
    assert moved <= last | {name for name in parameters if name.startswith("pooler")}
    assert {name for name in last if name.endswith("weight") and "norm" not in name.lower()} <= moved
    assert any(name.startswith("pooler") for name in moved) == (head == "pooler")
    given = load_backbone(folder, "cls")[0].state_dict()
    fresh = {name for name, value in parameters.items() if name in given and not torch.equal(value, given[name])}
    assert fresh and all("layer.3." in name for name in fresh), "the last layer alone was initialised anew"
    norms = [value for name, value in parameters.items() if "layer.3." in name and "norm" in name.lower()]
    assert norms and all(value.eq(1).all() or value.eq(0).all() for value in norms)


def test_without_tuned_layers_all_of_it_is_tuned_but_a_pooler_of_no_use(tmp_path, judged):
    module = made(judged, make_folder(tmp_path / "bert", "bert", layers=4), tuned_layers=None)
    frozen = {name for name, value in module.named_parameters() if not value.requires_grad}
    assert frozen == {"backbone.pooler.dense.weight", "backbone.pooler.dense.bias"}


def test_a_layer_that_is_reset_is_no_copy_of_a_pooler_that_is_new(tmp_path, judged):
    folder = make_folder(tmp_path / "bert", "bert", layers=4)
    weights = load_file(folder / "model.safetensors")
    save_file({name: value for name, value in weights.items() if "pooler" not in name}, folder / "model.safetensors")
    backbone = made(judged, folder, head="pooler").backbone
    query, pooler = backbone.encoder.layer[-1].attention.self.query.weight, backbone.pooler.dense.weight
    assert query.shape == pooler.shape and not torch.equal(query, pooler)


def test_the_kept_head_of_relevance_ranking_scores_at_first(tmp_path, judged, caplog):
    folder = make_folder(tmp_path / "bert", "bert", layers=4)
    kept = {"weight": torch.arange(WIDTH, dtype=torch.float32)[None]}
    save_file(kept, folder / "rr_head.safetensors")
    assert torch.equal(made(judged, folder).head.weight, kept["weight"])
    other = made(judged, folder, head="pooler", loss="pointwise")
    assert other.head.weight.shape == (2, WIDTH) and "starts anew" in caplog.text


@pytest.mark.parametrize("family", ["bert", "xlm-roberta"])
def test_the_size_of_a_batch_changes_no_score(tmp_path, judged, family, monkeypatch):
    module = made(judged, make_folder(tmp_path / family, family, layers=4))
    rows = np.arange(len(judged))
    whole, order = scored(module, rows), np.random.default_rng(0).permutation(rows)
    assert np.abs(scored(module, order) - whole[order]).max() < 1e-5 and len(np.unique(whole)) > 10
    for tokens in (1, 200):
        monkeypatch.setattr(cross_validation, "default_batch_tokens", lambda *given, tokens=tokens: tokens)
        assert np.abs(scored(module, rows) - whole).max() < 1e-5


def cross_encoder_folder(module, source: Path, folder: Path) -> Path:
    """The module as transformers' BertForSequenceClassification, with the tokenizer of `source`."""
    module.backbone.config.num_labels = module.head.out_features
    model = BertForSequenceClassification(module.backbone.config)
    model.bert.load_state_dict(module.backbone.state_dict())
    model.classifier.load_state_dict(module.head.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("length", [12, 32], ids=["cut", "whole"])
def test_scores_are_those_of_sentence_transformers(tmp_path, bert, judged, length):
    peers = pytest.importorskip("sentence_transformers")
    module = made(judged, bert.parent, head="pooler", loss="pointwise", length=length)
    folder = cross_encoder_folder(module, bert.parent, tmp_path / "peer")
    peer = peers.CrossEncoder(str(folder), max_length=length, device="cpu", local_files_only=True)
    places = zip(judged.topic_of, judged.document_of, strict=True)
    texts = [(judged.queries[topic], judged.texts[document]) for topic, document in places]
    expected = peer.predict(texts, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    actual = scored(module, np.arange(len(judged)))
    assert np.abs(actual - expected[:, -1]).max() < 1e-5 and np.ptp(actual) > 1e-2


def test_a_length_beyond_the_model_and_too_many_layers_are_refused(bert, judged):
    with pytest.raises(SteleError, match="length is 65, but the model has 64 positions"):
        made(judged, bert.parent, length=65)
    with pytest.raises(SteleError, match="tuned_layers is 5, but the model has 4 layers"):
        made(judged, bert.parent, tuned_layers=5)


def test_a_model_that_reads_from_left_to_right_is_refused(tmp_path, judged):
    """Its first token has seen no text: all documents had one score."""
    with pytest.raises(SteleError, match="gemma3_text has causal attention"):
        made(judged, make_gemma_folder(tmp_path / "one way", both_ways=False))
    module = made(judged, make_gemma_folder(tmp_path / "both ways", both_ways=True))
    assert np.ptp(scored(module, np.arange(len(judged)))) > 1e-3


def test_layers_that_are_initialised_anew_must_be_trained():
    """Of cv5 with tuned_layers 1 alone, two layers stayed as they were drawn, below the one that was trained."""
    with pytest.raises(SteleError, match="reset_layers: 3 layers start anew, but tuned_layers is 1"):
        parse_recipe({**VALUES, "tuned_layers": 1, "reset_layers": 3})
    assert parse_recipe({**VALUES, "tuned_layers": None, "reset_layers": 3}).reset_layers == 3


def test_what_is_new_is_drawn_by_the_seed(bert, judged):
    one, same, other = (made(judged, bert.parent, seed) for seed in (1, 1, 2))
    for (name, value), twin in zip(one.state_dict().items(), same.state_dict().values(), strict=True):
        assert torch.equal(value, twin), name
    assert not torch.equal(one.head.weight, other.head.weight)
