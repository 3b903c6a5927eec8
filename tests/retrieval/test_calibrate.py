"""`retrieval calibrate` end to end: sentences drawn, statistics, rotations, a killed run, what is refused."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from recorded import record

from stele.artifacts.documents import Document, DocumentWriter
from stele.encoders import rotation
from stele.encoders.calibration import FILE, load_calibration
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.retrieval import calibrate
from stele.retrieval.calibrate import sample_sentences
from stele.retrieval.dense import vector_files
from tests.jobs import job
from tests.killing import kill_at, killed
from tests.pretended_gpu import on_pretended_gpu

ENCODING = {"pooling": "mean", "query_length": 16, "passage_length": 16, "layer": 1}
RECIPE = {
    "sentences": 60,
    "rotation": {
        "epochs": 2, "epoch_vectors": 64, "discriminator_width": 8, "refinement_vectors": 50, "criterion_vectors": 50,
    },
}  # fmt: skip
WORDS = ("the", "river", "Nile", "flows", "through", "Uganda", "and", "Egypt", "who", "wrote", "first", "novel", "city")


def written(folder: Path, language: str, documents: int, shard_characters: int = 1 << 27) -> Path:
    """Documents of a language, three sentences each, of which the last is the same in all; their record."""
    draws = np.random.default_rng(len(language) + ord(language[0]))
    folder.mkdir(parents=True)
    with DocumentWriter(folder, shard_characters) as writer:
        for number in range(documents):
            told = [" ".join(draws.choice(WORDS, draws.integers(3, 9))) + f" {number} {n}" for n in range(2)]
            writer.add(Document(language, f"{language}-{number}", [*told, "Read more"], [0]))
    return record(folder, content=language)


@pytest.fixture(scope="module")
def documents(tmp_path_factory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("documents")
    return {language: written(place / language, language, 50) for language in ("en", "fr", "ar")}


@pytest.fixture
def run(tmp_path, encoder, documents):
    """run(pairs, **flags) -> the record, of a job whose state stays in the test's folder."""

    def call(*pairs: str, output: str = "out", given=("en", "fr", "ar"), **flags) -> dict:
        values = {"recipe": RECIPE, "encoding": ENCODING} | flags
        line = ["--model", "tiny", "--encoder", str(encoder), "--seed", "3", "--state", str(tmp_path / "state")]
        line += ["--documents", *(f"{language}={documents[language]}" for language in given), "--pairs", *pairs]
        line += [part for key, value in values.items() for part in (f"--{key}", json.dumps(value))]
        calibrate.run(job(calibrate, [*line, "--output", str(tmp_path / output / "record.json")]))
        return json.loads((tmp_path / output / "record.json").read_text())

    return call


def test_a_calibration_shifts_scales_and_turns_an_encoder_s_vectors(run, tmp_path, encoder, documents):
    made = run("fr-en", "ar-fr")
    assert made["job"] == "calibrate" and made["labels"] == ["stand-in checkpoint"]
    assert made["languages"] == {language: {"sentences": 60} for language in ("ar", "en", "fr")}
    assert made["rotations"].keys() == {"fr-en", "ar-fr"}
    assert len(made["rotations"]["fr-en"]["criteria"]) == 1 + 2 + 5
    assert made["inputs"].keys() == {"encoder", "documents en", "documents fr", "documents ar"}
    assert not (tmp_path / "state").exists()
    own = load_encoder(encoder.parent, ENCODING)
    calibration = load_calibration(tmp_path / "out/record.json", encoder, own.spec)
    vectors = own.encode(sample_sentences(documents["fr"], 60, 3, "fr"), "query")
    scaled = calibration.apply(vectors, "scaled", "fr")
    assert np.abs(scaled.mean(axis=0)).max() < 1e-5 and np.abs(scaled.std(axis=0) - 1).max() < 1e-4
    both = calibration.apply(vectors, "calibrated", "fr", "fr-en")
    assert np.abs(both - scaled @ calibration.rotations["fr-en"].T).max() < 1e-4
    matrix = calibration.rotations["fr-en"]
    assert np.abs(matrix @ matrix.T - np.eye(len(matrix))).max() < 1e-6


def test_on_a_gpu_the_rotation_is_the_same(run, tmp_path):
    run("fr-en")
    assert on_pretended_gpu(lambda: run("fr-en", output="gpu")) == 0
    on_cpu, on_gpu = (json.loads((tmp_path / name / "record.json").read_text()) for name in ("out", "gpu"))
    assert on_gpu["rotations"] == on_cpu["rotations"]


@pytest.mark.parametrize(
    ("module", "name", "call", "sentences", "epochs"),
    [
        (vector_files, "_save_progress", 3, 3 * 60 - 2 * 25, 4),  # in the first language's third block
        (rotation.Adversarial, "run_epoch", 2, 60, 3),  # in the first pair's second epoch
        (rotation.Adversarial, "run_epoch", 4, 0, 1),  # in the second pair's
    ],
)
def test_a_killed_job_goes_on_and_writes_the_same_bytes(
    run, tmp_path, monkeypatch, kinds, module, name, call, sentences, epochs
):
    """What was encoded and trained is not done again: so many sentences and epochs are left."""
    run("fr-en", "ar-en", output="whole")
    monkeypatch.setattr("stele.encoders.encode.CPU_WINDOW", 25)
    killed(lambda: run("fr-en", "ar-en"), kill_at(module, name, call))
    assert not (tmp_path / "out").exists()
    kinds.clear()
    ran, epoch = [], rotation.Adversarial.run_epoch
    monkeypatch.setattr(rotation.Adversarial, "run_epoch", lambda self: ran.append(self.key) or epoch(self))
    run("fr-en", "ar-en")
    assert (len(kinds), len(ran)) == (sentences, epochs)
    assert (tmp_path / "out" / FILE).read_bytes() == (tmp_path / "whole" / FILE).read_bytes()
    one, other = (json.loads((tmp_path / name / "record.json").read_text()) for name in ("out", "whole"))
    assert one["rotations"] == other["rotations"] and one["content"] == other["content"]


def test_a_killed_job_goes_on_with_one_more_pair(run, tmp_path, monkeypatch):
    """What is learnt of a language or a pair is the same beside other pairs."""
    run("fr-en", "ar-en", output="whole")
    killed(lambda: run("fr-en"), kill_at(calibrate.records, "write_record"))
    ran, epoch = [], rotation.Adversarial.run_epoch
    monkeypatch.setattr(rotation.Adversarial, "run_epoch", lambda self: ran.append(self.key) or epoch(self))
    run("fr-en", "ar-en")
    assert len(ran) == RECIPE["rotation"]["epochs"]
    assert (tmp_path / "out" / FILE).read_bytes() == (tmp_path / "whole" / FILE).read_bytes()


def test_vectors_are_dropped_after_a_language_s_last_pair(run, tmp_path, monkeypatch):
    held, forget = [], calibrate.CalibrationJob.forget

    def seen(self, language):
        forget(self, language)
        held.append(sorted(path.name for path in (self.state / "vectors").iterdir()))

    monkeypatch.setattr(calibrate.CalibrationJob, "forget", seen)
    run("fr-en", "ar-en")
    assert held[0] == ["en"] and held[2] == [] and len(held) == 3 + 3


def test_where_queries_are_cut_sooner_sentences_are_read_as_passages(run, tmp_path):
    """As at scales that force lengths of their own; a text that neither cuts has one vector."""
    run("fr-en", output="alike")
    assert run("fr-en", output="out", encoding={**ENCODING, "query_length": 4})["encoding"]["query_length"] == 4
    assert (tmp_path / "out" / FILE).read_bytes() == (tmp_path / "alike" / FILE).read_bytes()
    run("fr-en", output="cut", encoding={**ENCODING, "query_length": 4, "passage_length": 4})
    assert (tmp_path / "cut" / FILE).read_bytes() != (tmp_path / "alike" / FILE).read_bytes()


FEW = {"sentences": 20, "rotation": {"refinement_vectors": 20, "criterion_vectors": 20}}


@pytest.mark.parametrize(
    ("pairs", "flags", "said"),
    [
        (["de-en"], {}, "--pairs de-en: there is no CommonCrawl text of de, so it cannot be calibrated"),
        (["fr-en", "en-fr"], {}, "--pairs en-fr: the pair appears twice; one rotation serves both"),
        (["fr"], {}, "--pairs 'fr': want a pair of languages"),
        (["fr-fr"], {}, "--pairs 'fr-fr': want a pair of languages"),
        ([], {"encoding": {**ENCODING, "query_prompt": "query: "}}, "queries and passages are encoded differently"),
        (["fr-en"], {"recipe": FEW}, "fr-en: fr: 20 vectors are too few to rotate 32 dimensions"),
    ],
)
def test_what_cannot_be_calibrated_gets_one_clear_error(run, tmp_path, pairs, flags, said):
    with pytest.raises(SteleError, match=said):
        run(*pairs, **flags)
    assert not (tmp_path / "out").exists()


# --- sentences --------------------------------------------------------------------------------------------------------
def test_sentences_are_drawn_once_each_from_everywhere(tmp_path, monkeypatch):
    monkeypatch.setattr("stele.artifacts.documents.GROUP_DOCUMENTS", 10)
    path = written(tmp_path / "sw", "sw", 400, shard_characters=4_000)
    assert len(list(path.parent.glob("*.parquet"))) > 3
    drawn = sample_sentences(path, 100, 0, "sw")
    assert len(drawn) == len(set(drawn)) == 100 and sample_sentences(path, 100, 0, "sw") == drawn
    assert sample_sentences(path, 100, 1, "sw") != drawn != sorted(drawn)
    numbers = {int(text.split()[-2]) for text in drawn if text != "Read more"}
    assert len(numbers) > 70 and min(numbers) < 80 and max(numbers) > 320
    everything = sample_sentences(path, 10_000, 0, "sw")
    assert len(everything) == 801 and everything.count("Read more") == 1
    opened, whole = [], pq.ParquetFile.read_row_group
    count = lambda self, number, **options: opened.append(number) or whole(self, number, **options)  # noqa: E731
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", count)
    sample_sentences(path, 20, 0, "sw")
    assert len(opened) == 3, "of 40 row groups of 30 sentences those that hold 80"


def test_a_corpus_without_a_sentence_is_refused(tmp_path):
    path = written(tmp_path / "sw", "sw", 0)
    with pytest.raises(SteleError, match="found no sentence of sw"):
        sample_sentences(path, 10, 0, "sw")
