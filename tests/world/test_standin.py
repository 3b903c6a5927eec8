"""The stand-ins as the command publishes them: they load everywhere, are checked by their manifests, repeat."""

import json
import shutil
import unicodedata

import numpy as np
import pytest

from stele import catalogue
from stele.artifacts.records import read_record
from stele.errors import SteleError
from stele.files.digests import sha256
from tests.world import standin_runs as runs
from tests.world.standin_runs import LANGUAGES

KEYS = list(catalogue.load("standins"))
TODAYS = [key for key, entry in catalogue.load("standins").items() if entry["kind"] in ("contrastive", "causal")]
WITHOUT_HEAD = ("labse", "distilmbert", "mcontriever", *TODAYS)
TEXTS = ["The town stands by the river.", "a", "ลีมกรีมจุทกอ1874 พุมัล", "Wer ist das? 1999."]


@pytest.fixture
def texts(made, tmp_path):
    ignored = shutil.ignore_patterns("huggingface.co")
    return shutil.copytree(made.mirror, tmp_path / "mirror", ignore=ignored)


@pytest.mark.parametrize("key", KEYS)
def test_loads_with_transformers(made, key):
    import torch
    from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

    folder = made.folder(key)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model, report = AutoModel.from_pretrained(folder, output_loading_info=True)
    assert [name for name in report["missing_keys"] if "pooler" not in name] == []
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        assert torch.isfinite(model.eval()(**batch).last_hidden_state).all()
    assert len(tokenizer) == model.config.vocab_size
    if key not in WITHOUT_HEAD:
        _, report = AutoModelForMaskedLM.from_pretrained(folder, output_loading_info=True)
        assert not report["missing_keys"] and not report["mismatched_keys"]


@pytest.mark.parametrize("key", [key for key in KEYS if key != "ccp_large"])
def test_manifest_names_every_file_with_its_digest(made, key):
    folder = made.folder(key)
    repo = made.facts[key]["repository"]
    files = [path for path in folder.rglob("*") if path.is_file()]
    listed = read_record(folder.parents[1] / "manifest.json")["files"]
    for path in files:
        url = f"https://huggingface.co/{repo}/resolve/main/{path.relative_to(folder).as_posix()}"
        facts = {"sha256": sha256(path), "bytes": path.stat().st_size}
        assert facts.items() <= listed[url].items()
    assert len(made.facts[key]["files"]) == len(files)


@pytest.mark.parametrize("key", KEYS)
def test_checkpoint_rule_takes_it_and_labels_it(made, key):
    folder = made.fetched(key)
    assert "stand-in checkpoint" in json.loads((folder / "record.json").read_text())["labels"]
    assert list(folder.glob("model*.safetensors")) and not list(folder.rglob("*.bin"))


def test_a_changed_file_is_refused(made, tmp_path):
    mirror = tmp_path / "mirror"
    repo = "google-bert/bert-base-uncased"
    shutil.copytree(made.mirror / "huggingface.co" / repo, mirror / "huggingface.co" / repo)
    weights = mirror / "huggingface.co" / repo / "resolve/main/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"!")
    with pytest.raises(SteleError, match=r"model\.safetensors"):
        runs.fetch("bert", mirror, made.records, tmp_path)


def test_weights_are_published_in_the_originals_form(made):
    assert {path.name for path in made.folder("xlmr").iterdir()} >= {"pytorch_model.bin", "config.json"}
    assert not (made.folder("xlmr") / "model.safetensors").exists()
    assert (made.folder("mbert") / "model.safetensors").exists()
    types = {key: json.loads((made.folder(key) / "config.json").read_text())["model_type"] for key in KEYS}
    assert types["distilmbert"] == "distilbert" and types["ernie2"] == "ernie" and types["roberta"] == "roberta"
    assert {types[key] for key in ("xlmr", "xlmr_large", "xlmr_long", "infoxlm_base", "ccp_large")} == {"xlm-roberta"}


def test_special_tokens_are_the_originals(made):
    from transformers import AutoTokenizer

    for key in ("xlmr", "roberta"):
        tokenizer = AutoTokenizer.from_pretrained(made.folder(key))
        assert tokenizer.convert_tokens_to_ids(["<s>", "<pad>", "</s>", "<unk>"]) == [0, 1, 2, 3]
        assert tokenizer.mask_token_id == len(tokenizer) - 1
        a, b = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("one", "two"))
        assert tokenizer("one", "two")["input_ids"] == [0, *a, 2, 2, *b, 2]
    bert = AutoTokenizer.from_pretrained(made.folder("mbert"))
    assert bert("one", "two")["token_type_ids"][0] == 0 and bert("one", "two")["token_type_ids"][-1] == 1
    assert bert.pad_token_id == 0 and not bert.do_lower_case
    uncased = AutoTokenizer.from_pretrained(made.folder("bert"))
    assert uncased.tokenize("TOWN") == uncased.tokenize("town")


def test_an_uncased_vocabulary_is_of_texts_as_its_tokenizer_reads_them(made):
    """Accents and vowel signs are no part of it, or their pieces would never be used and stripped words be unknown."""
    from transformers import AutoTokenizer

    uncased, cased = (AutoTokenizer.from_pretrained(made.folder(key)) for key in ("mbert_uncased", "mbert"))
    assert uncased.tokenize("Müller") == uncased.tokenize("muller")
    stripped, whole = (
        [piece for piece in tokenizer.vocab if any(unicodedata.combining(mark) for mark in decomposed(piece))]
        for tokenizer in (uncased, cased)
    )
    assert whole and not stripped
    assert not [piece for piece in uncased.vocab if piece != piece.lower() and not piece.startswith("[")]


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def test_mcontriever_is_the_encoder_alone_in_pytorch_s_form(made):
    """As the original: no vocabulary head, no pooler, and names without a prefix."""
    import torch
    from transformers import AutoModel

    folder = made.folder("mcontriever")
    weights = torch.load(folder / "pytorch_model.bin", weights_only=True)
    assert {name.partition(".")[0] for name in weights} == {"embeddings", "encoder"}
    assert not (folder / "model.safetensors").exists()
    base = torch.nn.Module.state_dict(AutoModel.from_pretrained(made.folder("mbert")))
    assert {name: value.shape for name, value in weights.items()} == {
        name: value.shape for name, value in base.items() if not name.startswith("pooler")
    }
    assert not torch.equal(weights["embeddings.word_embeddings.weight"], base["embeddings.word_embeddings.weight"])


def test_one_vocabulary_covers_all_languages(made):
    from transformers import AutoTokenizer

    from stele_world.standins.corpus import read_sentences

    tokenizer = AutoTokenizer.from_pretrained(made.folder("xlmr"))
    for texts in read_sentences(made.mirror, LANGUAGES).values():
        ids = tokenizer(texts[:200], add_special_tokens=False)["input_ids"]
        assert all(tokenizer.unk_token_id not in one for one in ids)
    decoded = tokenizer.decode(tokenizer("The town by the river.")["input_ids"], skip_special_tokens=True)
    assert decoded == "The town by the river."


def test_continued_ones_share_the_tokenizer(made):
    shared = {"xlmr": ["xlmr_large", "infoxlm_base"], "mbert": ["labse", "mcontriever"], "bert": ["ernie2"]}
    for base, key in ((base, key) for base, keys in shared.items() for key in keys):
        assert sha256(made.folder(base) / "tokenizer.json") == sha256(made.folder(key) / "tokenizer.json")
    assert made.facts["xlmr_large"]["inputs"].keys() == {"mirror", "xlmr"}


@pytest.mark.parametrize(("key", "modules"), [("labse", 4), ("distilmbert", 3)])
def test_sentence_transformers_and_stele_agree(made, key, modules):
    from sentence_transformers import SentenceTransformer

    from stele.encoders.load import load_encoder

    theirs = SentenceTransformer(str(made.fetched(key)), device="cpu")
    assert len(theirs) == modules
    ours = load_encoder(made.fetched(key))
    expected = theirs.encode(TEXTS)
    np.testing.assert_allclose(ours.encode(TEXTS, "query"), expected, atol=1e-5)
    if key == "labse":
        np.testing.assert_allclose(np.linalg.norm(expected, axis=1), 1, atol=1e-5)


def test_a_stand_in_of_the_same_seed_has_the_same_bytes(made, texts, tmp_path):
    records = tmp_path / "standins"
    for key in ("xlmr", "mbert", "bert", "roberta", "labse", "distilmbert", "mcontriever", "me5_base", "qwen3_06b"):
        assert runs.make(key, texts, records, LANGUAGES)["content"] == made.facts[key]["content"], key
    assert not (records / "state" / "xlmr").exists()


@pytest.mark.parametrize(("values", "steps_done_twice"), [({}, 0), ({"learning_rate": 1e-4}, 2)])
def test_goes_on_after_a_stop(made, texts, tmp_path, monkeypatch, values, steps_done_twice):
    """A run that is told to stop half-way and started again ends in the same bytes; another recipe starts anew."""
    import os
    import signal

    from stele_world.standins import masked

    records = tmp_path / "standins"
    whole, calls = masked.masked_batch, []

    def stopping(*arguments):
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return whole(*arguments)

    monkeypatch.setattr(masked, "masked_batch", stopping)
    with pytest.raises(SteleError, match="after step 2 of 3"):
        runs.make("xlmr", texts, records, LANGUAGES, values)
    assert not (texts / "huggingface.co").exists() and not (records / "xlmr").exists()
    assert runs.make("xlmr", texts, records, LANGUAGES)["content"] == made.facts["xlmr"]["content"]
    assert len(calls) == 3 + steps_done_twice


def test_the_loss_of_a_longer_stand_in_is_lower(made, texts, tmp_path):
    body = {**catalogue.load("standins")["bert"]["architecture"], **runs.BODY}
    values = {"steps": 80, "batch": 24, "architecture": body}
    long = runs.make("bert", texts, tmp_path / "standins", ["en"], values)
    assert long["losses"]["mlm"] < made.facts["bert"]["losses"]["mlm"] - 0.5
    assert abs(made.facts["bert"]["losses"]["mlm"] - np.log(300)) < 0.5  # at first as good as chance


@pytest.mark.parametrize(
    ("key", "values", "message"),
    [
        ("xlmr", {"kind": "traned"}, "kind of stand-in.*traned.*trained"),
        ("xlmr", {"setps": 3}, "key.*setps.*steps"),
        ("xlmr", {"batch": 1}, "batch"),
        ("labse", {"bases": []}, "bases: found .*continues from 1"),
        ("mcontriever", {"pairs": 8, "queue": 7}, "queue: found 7, want at least a step's 8 keys"),
        ("labse", {}, "no such record"),
        ("xlmr", {"length": 100_000}, "are less than a window of 99998"),
    ],
)
def test_wrong_recipes_and_bases_are_refused(made, tmp_path, key, values, message):
    with pytest.raises(SteleError, match=message):
        runs.make(key, made.mirror, tmp_path, LANGUAGES, values)


def test_languages_without_what_a_stand_in_learns_from_are_refused(made, tmp_path):
    with pytest.raises(SteleError, match="English alone"):
        runs.make("labse", made.mirror, made.records, ["en"])
    with pytest.raises(SteleError, match="CC-100 has none of als"):
        runs.make("xlmr", made.mirror, tmp_path, ["als"])


def test_damaged_text_is_one_clear_error(texts, tmp_path):
    text = texts / "data.statmt.org/cc-100/th.txt.xz"
    text.write_bytes(text.read_bytes()[:-40])
    with pytest.raises(SteleError, match=r"th\.txt\.xz: the compressed file is cut short or damaged.*again"):
        runs.make("xlmr", texts, tmp_path, LANGUAGES)
    text.unlink()
    with pytest.raises(SteleError, match=r"th\.txt\.xz: no such file"):
        runs.make("xlmr", texts, tmp_path, LANGUAGES)
    assert not (texts / "huggingface.co").exists()


def test_catalogue_agrees_with_the_models():
    from stele.recipes.standins import parse_recipe

    standins, models = catalogue.load("standins"), catalogue.load("models")
    # of today's encoders one a family has one
    public = {
        key for key, model in models.items() if "checkpoint" in model and ("trained_on" not in model or key in TODAYS)
    }
    released = {model["released"]["dataset"] for model in models.values() if "released" in model}
    assert public <= set(standins) <= public | released
    for key, entry in standins.items():
        parse_recipe(entry, key)
        assert entry.get("repo") == models.get(key, {}).get("checkpoint")
        assert set(entry["bases"]) <= set(list(standins)[: list(standins).index(key)]), f"{key} before its bases"
