"""`sources checkpoint` from the hub and its mirrors: what is fetched, what is a stand-in, what is missing."""

import json
import shutil

import pytest
from ten_tokens import REPO, as_modules, as_pickle, publish

from stele.artifacts.records import DIVERGED, GENERATED, STAND_IN
from stele.catalogue import hub
from stele.errors import SteleError
from stele.files.digests import sha256
from stele.sources.download.unpack import place_file
from tests.sealed import write_sealed


# --- the hub ----------------------------------------------------------------------------------------------------------
def test_a_hub_id_comes_through_a_mirror_with_its_revision(run, local, site):
    as_pickle(local)
    publish(local, site, revision="v2")
    flags = ("--mirrors", site.address, "--offline")
    assert run(*flags, source={"checkpoint": REPO, "revision": "v2"}) == 0
    record = run.record
    assert (record["repository"], record["revision"], record["came_from"]) == (REPO, "v2", ["mirror"])
    assert (run.folder / "model.safetensors").is_file() and not (run.folder / "pytorch_model.bin").exists()
    assert not run.state.exists()


def test_a_sentence_transformers_repository_comes_with_its_modules(run, local, site, tmp_path):
    (st := tmp_path / "st" / "0_Transformer").parent.mkdir()
    shutil.copytree(local, st)
    as_modules(st.parent, {"0_Transformer": "Transformer", "1_Pooling": "Pooling", "": "Normalize"})
    publish(st.parent, site)
    assert run("--mirrors", site.address, "--offline") == 0
    assert list(run.record["models"]) == ["0_Transformer"]
    assert (run.folder / "1_Pooling" / "config.json").is_file() and (run.folder / "modules.json").is_file()


@pytest.mark.parametrize("name", hub.SENTENCE_BERT)
def test_a_repository_s_settings_come_under_each_of_their_names(run, local, site, name):
    """The length would be the model's 40 without them; the first name that says anything counts."""
    from stele.encoders.resolve import resolve

    as_modules(local, {"": "Transformer", "1_Pooling": "Pooling"})
    (local / hub.SENTENCE_BERT[0]).write_text("{}")
    (local / name).write_text(json.dumps({"max_seq_length": 7}))
    publish(local, site)
    assert run("--mirrors", site.address, "--offline", "--encoding", "{}") == 0
    assert resolve(run.folder).spec.query_length == 7


def test_a_chat_template_comes_along_and_weights_in_one_format_only(run, local, site):
    (local / "chat_template.jinja").write_text("{{ messages[0].content }}")
    (local / "pytorch_model.bin").write_bytes(b"never read")
    publish(local, site)
    assert run("--mirrors", site.address, "--offline") == 0
    assert (run.folder / "chat_template.jinja").is_file()
    assert not [request for request in site.requests if request.path.endswith(".bin")]
    assert run("--path", str(local)) == 0
    assert (run.folder / "chat_template.jinja").is_file()


@pytest.mark.parametrize("place", ["hub", "folder"])
def test_an_adapter_beside_the_weights_is_refused_before_them(run, local, site, place):
    (local / hub.ADAPTER).write_text(json.dumps({"peft_type": "LORA"}))
    publish(local, site)
    where = ("--mirrors", site.address, "--offline") if place == "hub" else ("--path", str(local))
    assert "adapter_config.json: adapters are not supported" in run.refused(*where)
    assert not [request for request in site.requests if request.path.endswith(".safetensors")]


@pytest.mark.parametrize("place", ["hub", "folder"])
@pytest.mark.parametrize("below", ["0_StaticEmbedding", "."])
def test_vectors_of_tokens_alone_are_a_checkpoint(run, local, site, tmp_path, place, below):
    """As sentence-transformers saves them, or as model2vec does, with a config.json that is no transformer's."""
    import torch
    from safetensors.torch import save_file

    from stele.encoders.load import load_encoder

    (folder := tmp_path / "static" / below).mkdir(parents=True)
    shutil.copy(local / "tokenizer.json", folder)
    save_file({"embedding.weight": torch.rand(10, 6)}, folder / "model.safetensors")
    as_modules(tmp_path / "static", {below: "StaticEmbedding", "1_Normalize": "Normalize"})
    if below == ".":
        (folder / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    publish(tmp_path / "static", site)
    where = ("--mirrors", site.address, "--offline") if place == "hub" else ("--path", str(tmp_path / "static"))
    assert run(*where, "--encoding", "{}") == 0
    (proof,) = run.record["models"].values()
    assert (proof["model_type"], proof["dimension"], proof["vocabulary"]) == ("StaticEmbedding", 6, 10)
    assert load_encoder(run.folder).encode(["what is a stele ?"], "query").shape == (1, 6)
    assert "has no layers to train" in run.refused(*where)
    assert "no model in it" in run.refused(*where, "--generator")


def test_generated_checkpoints_are_stand_ins_and_checked_by_their_manifest(run, local, tmp_path):
    publish(local, mirror=(mirror := tmp_path / "mirror"))
    base = mirror / "huggingface.co" / REPO
    files = {
        "https://" + p.relative_to(mirror).as_posix(): {"sha256": sha256(p), "bytes": p.stat().st_size}
        for p in base.rglob("*")
        if p.is_file()
    }
    write_sealed(base / "manifest.json", {"files": files, "labels": [GENERATED, STAND_IN]})
    flags = ("--mirrors", str(mirror))  # the manifest is found beside the files
    assert run(*flags) == 0
    assert run.record["labels"] == [STAND_IN] and run.record["origin"] == "generated"
    config = base / "resolve" / "main" / "config.json"
    config.write_text(config.read_text() + " ")
    assert "config.json" in run.refused(*flags)


HOSTILE = (
    "../../../../own.txt", "payload?/../../../../own.txt", "payload#/../../../../own.txt", "%2e%2e/own.txt",
    "/own.txt", "..\\own.txt", "own.txt\0", "",
)  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("source", ["weight_map", "modules.json"])
def test_a_repository_cannot_write_elsewhere(run, local, site, tmp_path, capsys, name, source):
    """An owner of a repository names files: whatever the name and the server say, no file outside comes to be."""
    (users_file := tmp_path / "own.txt").write_text("the user's")
    if source == "weight_map":
        (local / "model.safetensors").rename(local / "shard.safetensors")
        (local / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": name, "b": "own.txt"}}))
    else:
        kind = "sentence_transformers.models."
        modules = [{"path": "", "type": f"{kind}Transformer"}, {"path": name, "type": f"{kind}Dense"}]
        (local / "modules.json").write_text(json.dumps(modules))
    publish(local, site)
    site.more = lambda path: b"{}" if "own.txt" in path or "payload" in path else None
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    code = run("--mirrors", site.address, "--offline")
    new = [path for path in tmp_path.rglob("*") if path.is_file() and path not in before]
    assert users_file.read_text() == "the user's" and all(run.state in path.parents for path in new if code)
    if name or source == "weight_map":  # a module without a folder is the repository's own
        message = capsys.readouterr().err
        assert code == 1 and repr(name)[1:-1] in message and ("outside its folder" in message or not name)
        assert not [request.path for request in site.requests if "own.txt" in request.path]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"checkpoint": "../.."}, "'../..' is neither an id of the Hugging Face hub"),
        ({"checkpoint": REPO, "revision": "../../../x"}, "outside its folder"),
    ],
)
def test_an_id_or_a_revision_cannot_lead_elsewhere(run, source, message, tmp_path):
    assert message in run.refused("--mirrors", str(tmp_path), "--offline", source=source)


def test_a_checkpoint_is_not_written_over_a_file_or_through_a_link(tmp_path):
    (folder := tmp_path / "folder").mkdir()
    (source := tmp_path / "new").write_text("new")
    (folder / "link").symlink_to(tmp_path)
    (folder / "there").write_text("first")
    for name, message in (("link/other.txt", "leads out of"), ("there", "two files would become there")):
        with pytest.raises(SteleError, match=message):
            place_file(source, folder, name, "test")
    assert not (tmp_path / "other.txt").exists() and (folder / "there").read_text() == "first"


def test_a_checkpoint_s_file_that_the_hub_lacks_is_named(run, local, site):
    publish(local, site)
    flags = ("--mirrors", site.address, "--offline")
    del site.files[f"/huggingface.co/{REPO}/resolve/main/model.safetensors"]
    assert "no weights" in run.refused(*flags)
    message = run.refused(*flags, source={"checkpoint": "owner/absent"})
    assert "owner/absent/resolve/main/config.json" in message and "models: {tiny: {checkpoint: FOLDER}}" in message


def test_a_server_in_trouble_is_not_an_absent_file(run, local, site):
    """An optional file may be absent; that nobody answers for it must not make it so."""
    publish(local, site)
    site.faults[f"/huggingface.co/{REPO}/resolve/main/modules.json"] = [{"status": 503}] * 9
    assert "modules.json" in run.refused("--mirrors", site.address, "--offline")


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("config.json", '{"model_type": "new", "auto_map": {"AutoModel": "modeling.NewModel"}}', "auto_map"),
        ("tokenizer_config.json", '{"auto_map": {"AutoTokenizer": "own.Tokenizer"}}', "auto_map"),
        ("modules.json", '[{"idx": 0, "path": "", "type": "custom_st.Transformer"}]', "custom_st.Transformer"),
    ],
)
@pytest.mark.parametrize("place", ["hub", "folder"])
def test_code_is_refused_before_the_weights_are_fetched(run, local, site, file, text, said, place):
    """By the twin's name, where the catalogue knows one of the same weights without code."""
    (local / file).write_text(text)
    publish(local, site)
    source = {"checkpoint": REPO, "instead": "take other/repository, which has the same weights"}
    where = ("--mirrors", site.address, "--offline") if place == "hub" else ("--path", str(local))
    error = run.refused(*where, source=source)
    assert (f"{REPO} (main): {file}" if place == "hub" else f"{local}/{file}") in error and said in error
    assert ("take other/repository" in error) == (said == "auto_map")
    assert not any("model.safetensors" in request.path for request in site.requests) and not run.folder.exists()


def test_weights_released_elsewhere_are_asked_for(run):
    released = {"dataset": "msm_base", "where": "the signed link in the README of shunyuzh/MSM"}
    message = run.refused(source={"released": released})
    assert "signed link" in message and "user_data: {msm_base: YOUR_FOLDER}" in message
    assert "models: {tiny: {checkpoint: YOUR_FOLDER}}" in run.refused(source={})


def test_a_local_stand_in_keeps_its_label(run, local):
    (local / "manifest.json").write_text("{}")
    assert run("--path", str(local)) == 0
    assert run.record["labels"] == [STAND_IN] and not (run.folder / "manifest.json").exists()
    (local / "manifest.json").unlink()
    write_sealed(local / "record.json", {"labels": [GENERATED, STAND_IN]})
    assert run("--path", str(local)) == 0 and run.record["labels"] == [GENERATED, STAND_IN]


def test_a_local_checkpoint_of_a_diverged_pretraining_says_so(run, local):
    about = {"model": "ccp", "labels": [DIVERGED], "content": "c", "diverged": "cosine .99"}
    write_sealed(local / "record.json", about)
    assert run("--path", str(local)) == 0
    assert (run.record["labels"], run.record["diverged"]) == ([DIVERGED], "ccp: cosine .99")
    assert run.record["origin"] == "real"


def test_the_names_that_are_repositories_of_the_hub():
    assert hub.repository({"checkpoint": "a/b"}) == ("a/b", "main")
    assert hub.repository({"checkpoint": "bert-base-uncased", "revision": "x"}) == ("bert-base-uncased", "x")
    assert hub.repository({"released": {}}) is None
    # a folder's path that leads nowhere is no id, though the address of ./bert-base-uncased would be that of a model
    for folder in ("/no/such/folder", "./bert-base-uncased", "../mine", "mine/.hidden"):
        with pytest.raises(SteleError, match="neither an id of the Hugging Face hub"):
            hub.repository({"checkpoint": folder})
