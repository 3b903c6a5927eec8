"""`sources checkpoint` from local folders: weights become safetensors, and code is never run."""

import json
import os
import pickle
import resource
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from ten_tokens import as_modules, as_pickle, configured, embed, make
from transformers import AutoModel

from stele.errors import SteleError
from stele.files.atomic import MARK
from stele.files.digests import files_digest
from stele.sources.weights import checkpoint_files


def peak() -> int:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def test_a_local_folder_is_linked_proved_and_recorded(run, local):
    (local / "optimizer.pt").write_bytes(b"x")
    (local / "checkpoint-10").mkdir()
    (local / "checkpoint-10" / "config.json").write_text("{}")
    before = files_digest(local)
    assert run("--path", str(local)) == 0
    assert files_digest(local) == before and (run.folder / "model.safetensors").is_symlink()
    assert not (run.folder / "optimizer.pt").exists() and not (run.folder / "checkpoint-10").exists()
    record = run.record
    assert record["labels"] == [] and record["origin"] == "real" and record["came_from"] == ["local folder"]
    about = record["models"]["."]
    assert (about["model_type"], about["dimension"], about["vocabulary"]) == ("bert", 8, 10)
    assert about["new"] == ["pooler.dense.bias", "pooler.dense.weight"]  # a masked language model has none
    assert torch.equal(embed(run.folder), embed(local))
    assert str(local) not in run.output.read_text()


def test_weights_of_sixteen_bits_are_proved_as_such(run, local, monkeypatch):
    """An 8B model is 16 GB so, and 32 in float32."""
    held, load = [], AutoModel.from_pretrained

    def loading(*args, **more):
        loaded = load(*args, **more)
        held.append({parameter.dtype for parameter in loaded[0].parameters()})
        return loaded

    monkeypatch.setattr(AutoModel, "from_pretrained", loading)
    assert run("--path", str(local), source={"weights": "bfloat16"}) == 0
    proved = run.record["models"]["."]
    assert run("--path", str(local)) == 0
    assert held == [{torch.bfloat16}, {torch.float32}] and run.record["models"]["."] == proved


def test_pytorch_weights_become_safetensors_with_the_same_vectors(run, local):
    expected = embed(local)
    as_pickle(local)
    before = files_digest(local)
    assert run("--path", str(local)) == 0
    assert "model.safetensors" in run.have() and "pytorch_model.bin" not in run.have()
    assert torch.equal(embed(run.folder), expected)
    assert run.record["files"]["model.safetensors"]["verified"] == "converted"
    assert files_digest(local) == before and (local / "pytorch_model.bin").is_file()


def test_sharded_pytorch_weights_are_converted_shard_by_shard(run, local):
    weights = load_file(local / "model.safetensors")
    expected, names = embed(local), sorted(weights)
    halves = [names[: len(names) // 2], names[len(names) // 2 :]]
    index = {}
    for number, half in enumerate(halves, start=1):
        shard = f"pytorch_model-0000{number}-of-00002.bin"
        torch.save({name: weights[name] for name in half}, local / shard)
        index |= dict.fromkeys(half, shard)
    (local / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    assert run("--path", str(local)) == 0  # both kinds, as in the clone of a repository: safetensors are taken
    assert not list(run.folder.glob("pytorch_model*")) and (run.folder / "model.safetensors").is_symlink()
    (local / "model.safetensors").unlink()
    assert run("--path", str(local)) == 0
    assert not list(run.folder.glob("*.bin*")) and len(list(run.folder.glob("*.safetensors"))) == 2
    assert torch.equal(embed(run.folder), expected)


def test_a_sentence_transformers_folder_is_kept_whole(run, local):
    (st := local.with_name("st")).mkdir()
    shutil.copytree(local, st, dirs_exist_ok=True)
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense", "3_Normalize": "Normalize"}
    as_modules(st, kinds)
    (st / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 16, "do_lower_case": False}))
    (st / "2_Dense").mkdir()
    (st / "2_Dense" / "config.json").write_text(json.dumps({"in_features": 8}))
    torch.save({"linear.weight": torch.eye(8)}, st / "2_Dense" / "pytorch_model.bin")
    (st / "1_Pooling").rename(local / "1_Pooling")
    (st / "1_Pooling").symlink_to(local / "1_Pooling")  # as one head for several models
    assert run("--path", str(st)) == 0
    have = {*run.have()}
    assert {"modules.json", "sentence_bert_config.json", "1_Pooling/config.json", "2_Dense/model.safetensors"} <= have
    assert "2_Dense/pytorch_model.bin" not in have and list(run.record["models"]) == ["."]


def test_a_pickle_that_needs_code_is_refused_and_not_run(run, local):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(run.output.parent.parent / "trapped"),)

    run.output.parent.parent.mkdir(parents=True)
    for protocol, write in (("torch", torch.save), ("plain", lambda o, p: p.write_bytes(pickle.dumps(o, protocol=2)))):
        (local / "model.safetensors").unlink(missing_ok=True)
        write({"weight": Trap()}, local / "pytorch_model.bin")
        message = run.refused("--path", str(local))
        assert "pytorch_model.bin" in message and ("needs code" in message or "not a readable" in message), protocol
        assert not (run.output.parent.parent / "trapped").exists() and not run.output.parent.exists()


def test_a_training_state_is_not_weights(tmp_path):
    torch.save({"model": {"a": torch.ones(2)}, "epoch": 3}, tmp_path / "w.bin")
    with pytest.raises(SteleError, match="'model', 'epoch'"):
        checkpoint_files.convert(tmp_path / "w.bin", tmp_path / "w.safetensors")
    assert [path.name for path in tmp_path.iterdir()] == ["w.bin"]


def test_shared_memory_becomes_separate_tensors(tmp_path):
    base = torch.arange(12.0).reshape(3, 4)
    shared = {"all": base, "same": base, "row": base[1], "turned": base.T}
    torch.save(shared, tmp_path / "w.bin")
    assert checkpoint_files.convert(tmp_path / "w.bin", tmp_path / "w.safetensors") == 4
    actual = load_file(tmp_path / "w.safetensors")
    assert all(torch.equal(actual[name], tensor) for name, tensor in shared.items())


def test_weights_that_do_not_fit_are_refused(run, local):
    weights = load_file(local / "model.safetensors")
    name = "bert.encoder.layer.0.output.dense.weight"
    save_file({k: v for k, v in weights.items() if k != name}, local / "model.safetensors", {"format": "pt"})
    assert "encoder.layer.0.output.dense.weight" in run.refused("--path", str(local))  # and not silently random


def test_a_config_of_another_size_than_the_weights_is_refused_before_memory_is_taken(run, local):
    """Taken at its word, 64,000 dimensions are 60 GB."""
    configured(local, hidden_size=64_000, intermediate_size=256_000)
    before = peak()
    message = run.refused("--path", str(local))
    assert f"{local}/config.json: needs" in message and "hidden_size 64000" in message
    assert peak() - before < 200


@pytest.mark.parametrize("layers", [-1, 0, 10**9])
def test_a_number_of_layers_that_cannot_be_is_refused(run, local, layers):
    configured(local, num_hidden_layers=layers)
    assert f"{local}/config.json: num_hidden_layers is {layers}" in run.refused("--path", str(local))


def test_layers_that_config_leaves_out_are_refused(run, tmp_path):
    local = make(tmp_path / "two", layers=2)
    assert run("--path", str(local)) == 0 and run.record["models"]["."]["parameters"] > 1_000
    configured(local, num_hidden_layers=1)
    message = run.refused("--path", str(local))
    assert "leaves out (encoder.layer.1);" in message and "num_hidden_layers is 1" in message


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.safetensors"])
def test_a_pointer_of_git_lfs_is_told_as_one(run, local, name):
    (local / "model.safetensors").unlink()
    (local / name).write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 438007537\n")
    message = run.refused("--path", str(local))
    assert f"{local / name}: is a Git LFS pointer" in message and "git lfs pull" in message and "code" not in message


@pytest.mark.parametrize("shard", ["../../outside.bin", "/tmp/outside.bin", "a\\..\\b.bin", "pytorch_model.bin?x", 7])
def test_an_index_cannot_make_weights_be_written_elsewhere(run, local, tmp_path, shard):
    """`local` lies two folders below: the first name would lead to a file beside the user's own."""
    as_pickle(local)
    weights = torch.load(local / "pytorch_model.bin", weights_only=True)
    (local / "pytorch_model.bin").rename(tmp_path / "outside.bin")
    (local / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": dict.fromkeys(weights, shard)}))
    before = sorted(tmp_path.rglob("*"))
    message = run.refused("--path", str(local))
    assert "pytorch_model.bin.index.json" in message and repr(shard) in message
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.name != MARK and path not in before] == []


def test_an_index_names_shards_that_are_there(run, local):
    index = {"weight_map": {"bert.embeddings.word_embeddings.weight": "model-00001-of-00001.safetensors"}}
    (local / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "names model-00001-of-00001.safetensors, which is missing" in run.refused("--path", str(local))


@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json", "tokenizer.json", "x"])
@pytest.mark.parametrize("index", ["model.safetensors.index.json", "pytorch_model.bin.index.json"])
def test_an_index_names_files_of_weights_alone(run, local, index, name):
    weights = "model.safetensors" if index.startswith("model") else "pytorch_model.bin"
    as_pickle(local) if weights.endswith(".bin") else None
    (local / index).write_text(json.dumps({"weight_map": {"a": weights, "b": name}}))
    message = run.refused("--path", str(local))
    assert index in message and repr(name) in message and "holds no weights" in message


def test_weights_that_claim_more_than_the_file_holds_are_not_written(tmp_path):
    """A tensor may repeat its memory: a small file could fill the disk."""
    torch.save({"a": torch.ones(1).expand(10_000_000)}, tmp_path / "w.bin")
    with pytest.raises(SteleError, match=r"w\.bin: its tensors are 40,000,000 bytes"):
        checkpoint_files.convert(tmp_path / "w.bin", tmp_path / "w.safetensors")
    assert not (tmp_path / "w.safetensors").exists()


def test_a_tokenizer_of_another_model_or_damaged_numbers_are_refused(run, local):
    weights = load_file(local / "model.safetensors")
    name = "bert.embeddings.word_embeddings.weight"
    small = {k: v[:9].clone() if v.shape[:1] == (10,) else v for k, v in weights.items()}
    save_file(small, local / "model.safetensors", {"format": "pt"})
    configured(local, vocab_size=9)
    assert "give both from one model" in run.refused("--path", str(local))
    weights[name] = torch.full_like(weights[name], float("nan"))
    save_file(weights, local / "model.safetensors", {"format": "pt"})
    configured(local, vocab_size=10)
    assert "NaN or infinite" in run.refused("--path", str(local))
    settings = json.loads((local / "tokenizer_config.json").read_text())
    (local / "tokenizer_config.json").write_text(json.dumps(settings | {"pad_token": None}))
    assert "no padding token" in run.refused("--path", str(local))


def test_folders_that_are_no_checkpoint_say_what_they_hold(run, local, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "model.pt").write_bytes(b"")
    assert "model.pt" in run.refused("--path", str(tmp_path / "other"))
    assert "this folder does not exist" in run.refused("--path", str(tmp_path / "none"))
    for name, what in (("model.safetensors", "weights"), ("tokenizer.json", "tokenizer")):
        (local / name).unlink()
        assert f"{local}: no {what}" in run.refused("--path", str(local))  # and not the folder that was being made
