"""Stand-ins of today's encoders: folders of their originals' kind, sentence-transformers' vectors, and they learnt."""

import json
import shutil

import numpy as np
import pytest

from stele import catalogue
from stele.encoders.load import load_encoder
from stele.retrieval import encode_collection
from stele.sources.weights.checkpoint_checks import check_settings
from stele_world.standins import corpus
from tests.jobs import job
from tests.sealed import write_sealed
from tests.world import standin_runs as runs

KEYS = [key for key, entry in catalogue.load("standins").items() if entry["kind"] in ("contrastive", "causal")]
TEXTS = ["The town stands by the river.", "", "ลีมกรีมจุทกอ1874 พุมัล", "Wer ist das? " * 90]


@pytest.mark.parametrize("key", KEYS)
def test_the_vectors_are_those_of_sentence_transformers(made, key):
    """Of the folder as published, by its own tokenizer and modules; both in float32, whatever the folder holds."""
    import torch
    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(str(made.folder(key)), device="cpu", model_kwargs={"dtype": torch.float32})
    ours = load_encoder(made.fetched(key))
    for kind, encode in (("query", theirs.encode_query), ("passage", theirs.encode_document)):
        expected = encode(TEXTS, batch_size=1, show_progress_bar=False)
        assert np.abs(ours.encode(TEXTS, kind) - expected).max() < 1e-5, kind


@pytest.mark.parametrize("key", KEYS)
def test_its_settings_alone_let_it_pass_for_what_the_plan_wants_of_it(made, key, jobs):
    said = jobs(scale="miniature").sources.checkpoint_use(key)["encoding"]
    check_settings(made.fetched(key), json.loads(said))


def test_the_news_are_longer_than_a_stand_in_reads(made, generated, tmp_path):
    hub, given = generated.folder / "huggingface.co/datasets/neuclir", []
    files = {"neuclir_corpus:zh": hub.glob("neuclir1/resolve/*/data/zho-*"), "neuclir:all": hub.glob("bench/**/*.txt")}
    for number, (name, paths) in enumerate(files.items()):
        (folder := tmp_path / str(number)).mkdir()
        for path in paths:
            (folder / path.name).symlink_to(path)
        write_sealed(folder / "record.json", {"job": "x", "labels": [], "content": name})
        given.append(f"{name}={folder}/record.json")
    line = ["--benchmark", "neuclir_mono", "--collection", "zh", "--encoding", "{}", "--data", *given]
    line += ["--encoder", str(made.fetched("bge_m3") / "record.json"), "--state", str(tmp_path / "state")]
    encode_collection.run(job(encode_collection, [*line, "--output", str(tmp_path / "out/record.json")]))
    counts = json.loads((tmp_path / "out/record.json").read_text())["counts"]
    assert counts["passages"] == 140 and counts["cut_passages"] > 70


def test_the_folders_are_of_their_originals_kind(made):
    def settings(key, name):
        return json.loads((made.folder(key) / name).read_text())

    def files(key):
        return {path.name for path in made.folder(key).iterdir()}

    assert "config_sentence_transformers.json" not in files("me5_base"), "E5 states no prompts"
    assert "pytorch_model.bin" in files("bge_m3") and "model.safetensors" not in files("bge_m3")
    types = {key: settings(key, "config.json")["model_type"] for key in KEYS}
    assert types == {
        **{"me5_base": "xlm-roberta", "bge_m3": "xlm-roberta", "gte_mbase": "gte", "qwen3_06b": "qwen3"},
        **{"embeddinggemma": "gemma3_text", "harrier_270m": "gemma3_text"},
    }
    shards = [name for name in files("qwen3_06b") if name.startswith("model-")]
    assert len(shards) == 2 and "model.safetensors.index.json" in files("qwen3_06b")
    assert {settings(key, "config.json")["dtype"] for key in ("qwen3_06b", "harrier_270m")} == {"bfloat16"}
    assert settings("qwen3_06b", "tokenizer_config.json")["padding_side"] == "left"
    assert settings("embeddinggemma", "config.json")["use_bidirectional_attention"]
    dense = [entry for entry in settings("embeddinggemma", "modules.json") if entry["type"].endswith("Dense")]
    assert len(dense) == 2
    assert "query" not in settings("harrier_270m", "config_sentence_transformers.json")["prompts"]


@pytest.mark.parametrize("key", ["bge_m3", "embeddinggemma"])
def test_translations_are_found_after_training_and_not_before(made, key, tmp_path):
    """Of the pairs that it learns from: a law of the training, no claim about an encoder."""
    english, german = zip(*corpus.translations(made.mirror, "de")[:40], strict=True)

    def right(steps):
        folder = tmp_path / str(steps)
        mirror, records = folder / "mirror", folder / "standins"
        shutil.copytree(made.mirror, mirror)
        shutil.copytree(made.records, records)
        shutil.rmtree(records / key)
        runs.make(key, mirror, records, ["en", "de"], {"steps": steps, "pairs": 24, "pair_length": 48})
        runs.fetch(key, mirror, records, folder)
        encoder = load_encoder(folder / key)
        sides = [encoder.encode(list(side), "passage") for side in (english, german)]
        return float(np.mean((sides[0] @ sides[1].T).argmax(1) == np.arange(len(english))))

    assert right(60) > right(1) + 0.2
