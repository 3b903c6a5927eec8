"""Retrieval with calibrated vectors: as moved by hand, each side by its own language, and what is refused."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import test_retrieve as retrieval
import test_retrieve_pairs as pairs
from calibrations import drawn
from recorded import SPEC, files, goes_on

from stele.artifacts.run_files import read_run
from stele.benchmarks.belebele import Belebele
from stele.benchmarks.tatoeba import Tatoeba
from stele.benchmarks.types import QuerySet
from stele.encoders.calibration import FILE, read_tensors
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.retrieval import retrieve
from stele.retrieval.dense import encoder_arguments
from stele.retrieval.searches import search_job
from tests.forked import forked
from tests.killing import kill_at, killed

small_windows, data = retrieval.small_windows, pairs.data
LEARNT = ["fr-en", "en-th"]  # one as Tatoeba has it, one turned about


@pytest.fixture
def calibration(tmp_path, encoder):
    return drawn(tmp_path / "calibration", encoder, SPEC, ["en", "fr", "th"], LEARNT)


@pytest.fixture
def run(tmp_path, encoder, data, calibration):
    """run(operation, *more) -> {query set: {query: ids of its hits}} and the record."""

    def call(operation: str, *more: str, name: str = "out"):
        given = ("--calibration", str(calibration), "--operation", operation, *more)
        retrieve.run(pairs.arguments(tmp_path, encoder, data, name, SPEC, *given))
        runs = {each: read_run(tmp_path / name / f"runs/{each}.trec.gz") for each in pairs.QUERY_SETS}
        hits = {each: {query: run.ranking(query) for query in run.queries} for each, run in runs.items()}
        return hits, json.loads((tmp_path / name / "retrieval.json").read_text())

    return call


def moved(tmp_path, encoder, operation: str, language: str, code: str, side: str) -> np.ndarray:
    """Unit vectors of a side of a language's pairs, moved by hand."""
    texts = (tmp_path / language / f"tatoeba.{code}-eng.{side}").read_text().splitlines()
    vectors = load_encoder(encoder.parent, SPEC).encode(texts, "query").astype(np.float64)
    statistics, rotations = read_tensors(tmp_path / "calibration" / FILE)
    own = statistics["en" if side == "eng" else language]
    vectors = vectors - own.mean
    if operation != "shifted":
        vectors /= own.deviation
    turned = {"fr": code, "th": "eng"}[language]  # the side that stands first where the rotation was learnt
    if operation == "calibrated" and side == turned:
        vectors = vectors @ rotations["fr-en" if language == "fr" else "en-th"].T
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("operation", ["shifted", "scaled", "calibrated"])
def test_vectors_are_moved_before_they_are_compared(tmp_path, encoder, run, operation):
    hits, record = run(operation)
    for language, code in (("fr", "fra"), ("th", "tha")):
        sides = [moved(tmp_path, encoder, operation, language, code, side) for side in (code, "eng")]
        for name, (queries, passages) in {f"{language}-en": sides, f"en-{language}": sides[::-1]}.items():
            best = (queries @ passages.T).argmax(axis=1)
            assert [ids[0] for ids in hits[name].values()] == [f"{len(passages) - 1 - row:04d}" for row in best]
    assert record["operation"] == operation and record["similarity"] == "cosine"
    assert record["inputs"].keys() == {"encoder", "calibration", "tatoeba:fr", "tatoeba:th"}
    assert record["labels"] == ["generated data", "stand-in checkpoint"], "those of what it is learnt from, too"


def test_queries_that_are_encoded_for_themselves_are_moved_by_their_own_language(run, monkeypatch):
    shared, _ = run("calibrated")
    monkeypatch.delattr(Tatoeba, "query_collection")
    apart, _ = run("calibrated", name="apart")
    first, second = ({name: [ids[0] for ids in of.values()] for name, of in hits.items()} for hits in (shared, apart))
    assert first == second


def test_another_operation_takes_up_no_vectors_of_a_killed_one(tmp_path, encoder, data, calibration, run):
    given = ("--calibration", str(calibration), "--operation", "shifted")
    args = pairs.arguments(tmp_path, encoder, data, "out", SPEC, *given)
    killed(lambda: retrieve.run(args), kill_at(search_job, "write_run", 2))
    after, _ = run("calibrated")
    assert after == run("calibrated", name="fresh")[0]


def test_kill_9_again_and_several_processes_give_the_same_runs(tmp_path, encoder, data, calibration):
    def made(name: str):
        given = ("--calibration", str(calibration), "--operation", "calibrated")
        return pairs.arguments(tmp_path, encoder, data, name, SPEC, *given)

    goes_on(retrieve, made, search_job, "write_run", 3)
    two = made("two")
    assert forked(2, lambda rank: retrieve.run(two)) == [0, 0]
    assert files(tmp_path / "whole") == files(tmp_path / "two")


@pytest.mark.parametrize(
    ("more", "spec", "said"),
    [
        (["--operation", "scaled"], SPEC, "--calibration, --operation: give both"),
        (["--calibration", "RECORD"], SPEC, "--calibration, --operation: give both"),
        (["--calibration", "RECORD", "--operation", "scaled"], SPEC | {"layer": 1}, "with layer: None, those to .* 1"),
        (["--calibration", "OTHER", "--operation", "scaled"], SPEC, "unknown language of a calibration 'fr'"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, encoder, data, calibration, more, spec, said):
    other = drawn(tmp_path / "other", encoder, SPEC, ["en", "sw"], ["sw-en"])
    given = [{"RECORD": str(calibration), "OTHER": str(other)}.get(word, word) for word in more]
    with pytest.raises(SteleError, match=said):
        retrieve.run(pairs.arguments(tmp_path, encoder, data, "out", spec, *given))
    assert not (tmp_path / "out").exists()


def test_a_benchmark_that_is_of_no_pairs_is_refused(monkeypatch):
    monkeypatch.setattr(encoder_arguments, "load_calibration", lambda *given: object())
    encoder = SimpleNamespace(spec=None)
    paths = {"calibration": Path("record.json"), "encoder": Path("encoder.json")}
    args = encoder_arguments.CalibratedJob(operation="scaled", **paths)

    one_english = [QuerySet("fr-en", "fr", "en"), QuerySet("de-en", "de", "en")]
    # Belebele names the language of the passages first: each side would be moved by the other's mean
    for sets in ([QuerySet("sw", "sw", "sw")], one_english, Belebele().query_sets(["ru-en"])):
        with pytest.raises(SteleError, match="want a benchmark of language pairs"):
            encoder_arguments.CalibrationTransforms(args, encoder, sets)
