"""The number of parameters of a checkpoint, from its files alone."""

import pytest

from stele.artifacts.results import read_result
from stele.errors import SteleError
from stele.recipes.encoding import EncodingSpec
from stele.scoring import count_parameters
from stele.scoring.count_parameters import parameters
from tests.jobs import job
from tests.pretraining.tiny_checkpoint import tokenizer
from tests.sealed import write_sealed


@pytest.fixture
def encoder():
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=24,
    )  # fmt: skip
    return BertModel(config)


def test_several_files_are_one_model_and_two_towers_are_counted_once(encoder, tmp_path):
    encoder.save_pretrained(tmp_path / "one")
    encoder.save_pretrained(tmp_path / "parts", max_shard_size="8KB")
    assert len(list((tmp_path / "parts").glob("*.safetensors"))) > 1
    assert parameters(tmp_path / "parts") == parameters(tmp_path / "one")
    for tower in ("query", "passage"):
        encoder.save_pretrained(tmp_path / "dual" / tower)
    assert parameters(tmp_path / "dual") == parameters(tmp_path / "one")


FAMILIES = {"bert": 24, "xlm-roberta": 26, "roberta": 26, "ernie": 24, "distilbert": 24}  # with their positions


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["masked language model", "classifier", "body"])
def test_a_checkpoint_counts_as_much_as_the_encoder_that_is_trained_from_it(family, kind, tmp_path):
    """All families that can be pretrained: heads, a pooler, numbers of positions and other tensors beside the body."""
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification

    from stele.pretraining.inputs import load_base, save_sentence_encoder

    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    config = AutoConfig.for_model(family, vocab_size=80, max_position_embeddings=FAMILIES[family], **sizes)
    classes = {"masked language model": AutoModelForMaskedLM, "classifier": AutoModelForSequenceClassification}
    model = classes.get(kind, AutoModel).from_config(config)
    model.save_pretrained(tmp_path / "base")
    tokenizer().save_pretrained(tmp_path / "base")
    path = tmp_path / "base" / "model.safetensors"
    prefix = "" if kind == "body" else f"{model.base_model_prefix}."
    older = {f"{prefix}embeddings.position_ids": torch.arange(24)[None], f"{prefix}pooler.dense.bias": torch.ones(16)}
    save_file(load_file(path) | older, path, {"format": "pt"})
    trained, _ = load_base(tmp_path / "base", dropout=0.0, seed=0)
    save_sentence_encoder(
        tmp_path / "trained",
        trained,
        tmp_path / "base",
        (None, EncodingSpec(pooling="cls", query_length=16, passage_length=16)),
    )
    body = sum(value.numel() for name, value in model.base_model.named_parameters() if "pooler." not in name)
    assert parameters(tmp_path / "base") == parameters(tmp_path / "trained") == body


def test_the_result_is_one_that_a_table_reads(encoder, tmp_path):
    encoder.save_pretrained(tmp_path)
    write_sealed(tmp_path / "record.json", {"job": "x", "labels": ["stand-in checkpoint"], "content": "c"})
    line = ["--encoder", str(tmp_path / "record.json"), "--model", "mbert", "--seeds", "pt0-ft0"]
    count_parameters.run(job(count_parameters, [*line, "--output", str(tmp_path / "pt0-ft0.json")]))
    result = read_result(tmp_path / "pt0-ft0.json")
    assert result.metrics["parameters"].languages == {"all": parameters(tmp_path)}
    assert result.labels == ["stand-in checkpoint"]


def test_a_folder_that_is_no_checkpoint_has_no_parameters_to_count(tmp_path):
    with pytest.raises(SteleError, match=r"no \.safetensors file"):
        parameters(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no")
    with pytest.raises(SteleError, match=r"model\.safetensors: not a readable safetensors file"):
        parameters(tmp_path)
