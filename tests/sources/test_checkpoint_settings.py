"""`sources checkpoint` refuses by a checkpoint's settings what could not be used, before its weights are fetched."""

import json
import shutil
from pathlib import Path

import pytest
from ten_tokens import REPO, WORDS, as_modules, publish

from stele.errors import SteleError
from stele.sources.weights.checkpoint_checks import check_loads

KINDS = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"}
DENSE = {"in_features": 8, "out_features": 4, "bias": False, "activation_function": "torch.nn.modules.linear.Identity"}
PROMPTS = {"web_search_query": "Instruct: search\nQuery: ", "bitext": "Instruct: match\nQuery: "}
GPT2 = {"n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 40, "vocab_size": len(WORDS)}


def set_type(folder: Path, model_type: str | None, **settings) -> None:
    """Another config.json; weights stay what they are, since they are not to be read."""
    kind = {"model_type": model_type} if model_type else {}
    (folder / "config.json").write_text(json.dumps({**kind, **settings}))


def add_modules(folder: Path, kinds=KINDS, pooling: str = "mean", prompts=None) -> None:
    """Makes it a sentence-transformers folder of 4 dimensions, with weights of its Dense layer that nobody can read."""
    as_modules(folder, kinds)
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts or {}}))
    for path, settings in (("1_Pooling", {"pooling_mode": pooling}), ("2_Dense", DENSE)):
        (folder / path).mkdir(exist_ok=True)
        (folder / path / "config.json").write_text(json.dumps(settings))
    (folder / "2_Dense" / "model.safetensors").write_bytes(b"no weights")


REFUSED = {
    "sequence to sequence": (lambda f: set_type(f, "t5"), {}, "model type 't5' is not supported: models of"),
    "T5's encoder": (lambda f: set_type(f, "t5", is_encoder_decoder=False), {}, "models of this family have a decoder"),
    "language model": (lambda f: set_type(f, "gpt2", **GPT2), None, "'gpt2' is a language model with causal attention"),
    "its mean": (lambda f: set_type(f, "gpt2", **GPT2), {"models": {"pooling": "mean"}}, "`encoding: {pooling: last}`"),
    "images too": (lambda f: set_type(f, "clip"), {}, "model type 'clip' is not a text-only encoder"),
    "unknown type": (lambda f: set_type(f, "bort"), None, "model type 'bort' is unknown to this version of"),
    "no type": (lambda f: set_type(f, None, hidden_size=8), None, "no model in it (no config.json with a model_type)"),
    "4 bits": (
        lambda f: set_type(f, "bert", quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True}),
        None,
        "its weights are quantised (bitsandbytes), which Stele does not load; give the model that it was made from",
    ),
    "damaged": (lambda f: set_type(f, "bert", hidden_size="wide"), None, "config.json: not a readable configuration"),
    "prompt's name": (
        lambda f: add_modules(f, prompts=PROMPTS),
        {"config": {"prompt_name": "web_search_qery"}},
        "did you mean 'web_search_query'",
    ),
    "prompt of none": (lambda f: None, {"config": {"pooling": "cls", "prompt_name": "query"}}, "it names no prompts"),
    "prompt's field": (lambda f: None, {"config": {"pooling": "cls", "query_prompt": "{instruct}: "}}, "'instruct'"),
    "dimension": (lambda f: None, {"config": {"pooling": "cls", "dimension": 9}}, "9, its vectors have 8 numbers"),
    "Dense": (add_modules, {"config": {"dimension": 5}}, "dimension is 5, its vectors have 4 numbers"),
    "pooling": (add_modules, {"config": {"pooling": "cls"}}, "state pooling: 'mean', but 'cls' is requested"),
    "module": (lambda f: add_modules(f, {**KINDS, "3_LSTM": "LSTM"}), {}, "module 'LSTM' is not supported"),
    "pooling's kind": (lambda f: add_modules(f, pooling="max"), {}, "pooling max is not supported"),
    "no pooling": (lambda f: None, {"config": {"query_prompt": "query: "}}, "at least `encoding: {pooling: cls}`"),
}  # fmt: skip


@pytest.mark.parametrize("place", ["hub", "folder"])
@pytest.mark.parametrize(("damage", "encoding", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_used_is_refused_before_the_weights(run, local, site, damage, encoding, said, place):
    """In one sentence that names the repository or the folder; weights that cannot be read are never looked at."""
    damage(local)
    (local / "model.safetensors").write_bytes(b"no weights")
    publish(local, site)
    where = ("--mirrors", site.address, "--offline") if place == "hub" else ("--path", str(local))
    asked = () if encoding is None else ("--encoding", json.dumps(encoding))
    message = run.refused(*where, *asked)
    errors = [line for line in message.splitlines() if "stele: error: " in line]
    assert len(errors) == 1 and "Traceback" not in message and said in errors[0]
    assert (f"{REPO}/resolve/main" if place == "hub" else str(local)) in errors[0]
    assert not [request for request in site.requests if request.path.endswith((".safetensors", ".bin"))]
    assert not run.folder.exists()


@pytest.mark.parametrize("place", ["hub", "folder"])
def test_settings_alone_are_taken_and_checked_without_the_weights(run, local, site, place):
    """As before an evaluation is planned: so that its size is known, and what cannot be used is refused."""
    (local / "model.safetensors").write_bytes(b"no weights")
    publish(local, site)
    where = ("--mirrors", site.address, "--offline") if place == "hub" else ("--path", str(local))
    asked = ("--settings-only", "--encoding", json.dumps({"config": {"pooling": "cls"}}))
    assert run(*where, *asked) == 0
    assert not run.folder.exists() and not [each for each in site.requests if each.path.endswith(".safetensors")]
    if place == "hub":
        kept = json.loads((run.state / "settings/config.json").read_text())
        assert kept == json.loads((local / "config.json").read_text())
    set_type(local, "t5")
    publish(local, site)
    shutil.rmtree(run.state, ignore_errors=True)
    assert "model type 't5' is not supported" in run.refused(*where, *asked)
    assert not (run.state / "settings").exists()


@pytest.mark.parametrize(("file", "what"), [("tokenizer.json", "tokenizer"), ("model.safetensors", "weights")])
def test_a_folder_without_a_tokenizer_or_weights_is_refused_when_its_use_is_planned(run, local, file, what):
    (local / file).unlink()
    assert f"{local}: no {what} (want one of {file}," in run.refused("--path", str(local), "--settings-only")


def test_a_repository_that_is_not_there_gets_the_nearest_name(run, site):
    where, typo = ("--mirrors", site.address, "--offline"), {"checkpoint": "intfloat/multilingual-e5-smal"}
    said = run.refused(*where, "--settings-only", source=typo)
    assert "did you mean 'intfloat/multilingual-e5-small'?" in said
    assert "did you mean" not in run.refused(*where, source={"checkpoint": "nobody/has-this"})


def test_a_model_that_reads_from_left_to_right_is_an_encoder_by_its_last_token(run, local):
    """Or by its modules, or where both sides are read."""
    from transformers import AutoConfig, AutoModel

    AutoModel.from_config(AutoConfig.for_model("gpt2", **GPT2)).save_pretrained(local)
    assert run("--path", str(local), "--encoding", '{"config": {"pooling": "last"}}') == 0
    assert run.record["models"]["."]["model_type"] == "gpt2"
    add_modules(local, {"": "Transformer", "1_Pooling": "Pooling"})
    shutil.rmtree(local / "2_Dense")
    assert run("--path", str(local), "--encoding", "{}") == 0


def test_a_family_whose_table_of_tokens_is_of_its_own_class_is_an_encoder(run, local):
    from transformers import AutoConfig, AutoModel

    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = AutoConfig.for_model("ibert", vocab_size=len(WORDS), max_position_embeddings=40, pad_token_id=0, **sizes)
    AutoModel.from_config(config).save_pretrained(local)
    assert run("--path", str(local), "--encoding", '{"config": {"pooling": "mean"}}') == 0


def test_a_generator_is_no_encoder_and_need_not_be_one(run, local):
    from transformers import AutoModel, BartConfig

    sizes = {"d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 8, "decoder_ffn_dim": 8}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "vocab_size": len(WORDS), "pad_token_id": 0}
    AutoModel.from_config(BartConfig(max_position_embeddings=40, **sizes, **heads)).save_pretrained(local)
    assert run("--path", str(local)) == 1
    assert run("--path", str(local), "--generator") == 0 and run.record["models"]["."]["model_type"] == "bart"


def test_a_model_that_does_not_encode_texts_alone_is_told_in_one_sentence(local, monkeypatch):
    from transformers import BertModel

    def forward(self, **batch):
        raise ValueError("You have to specify pixel_values\nand more")

    monkeypatch.setattr(BertModel, "forward", forward)
    said = r"not a readable encoder of texts \(ValueError: You have to specify pixel_values and more\)"
    with pytest.raises(SteleError, match=said):
        check_loads(local)


def test_a_special_token_of_other_inputs_needs_no_row(local):
    """EmbeddingGemma reads texts alone: its 262,144 rows have none for <image_soft_token>, number 262,144."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(local)
    tokenizer.add_special_tokens({"extra_special_tokens": ["<image>"]})
    tokenizer.save_pretrained(local)
    assert check_loads(local)["vocabulary"] == len(WORDS) + 1
    tokenizer.add_tokens(["word"])
    tokenizer.save_pretrained(local)
    with pytest.raises(SteleError, match="the tokenizer has 12 tokens, the model 10; give both from one model"):
        check_loads(local)
