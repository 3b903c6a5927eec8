"""Aligned texts (Tatoeba): each is encoded once, as query and passage; with calibrated vectors, moved as by hand."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import test_retrieve as retrieval
from calibrations import drawn
from recorded import SPEC, WORDS, files, goes_on, record, retrieving

from stele.artifacts.run_files import read_run
from stele.benchmarks.belebele import Belebele
from stele.benchmarks.tatoeba import Tatoeba
from stele.benchmarks.types import QuerySet
from stele.encoders.calibration import FILE, read_tensors
from stele.encoders.load import load_encoder
from stele.errors import SteleError
from stele.retrieval import retrieve
from stele.retrieval.dense import collection, encoder_arguments
from stele.retrieval.searches import search_job
from tests.forked import forked
from tests.killing import kill_at, killed

small_windows = retrieval.small_windows
QUERY_SETS = ["en-fr", "en-th", "fr-en", "th-en"]


@pytest.fixture
def data(tmp_path) -> list[str]:
    """50 pairs of French and 30 of Thai, each side in words of its own order."""
    given = []
    for seed, (language, code, size) in enumerate([("fr", "fra", 50), ("th", "tha", 30)]):
        rng, folder = np.random.default_rng(seed), tmp_path / language
        folder.mkdir()
        for side in (code, "eng"):
            lines = [" ".join(rng.choice(WORDS, rng.integers(2, 9))) for _ in range(size)]
            (folder / f"tatoeba.{code}-eng.{side}").write_text("".join(f"{line}\n" for line in lines))
        given.append(f"tatoeba:{language}={record(folder, content=language, labels=[])}")
    return given


def arguments(tmp_path, encoder, data, name="out", spec=SPEC, *more):
    pairs = {"benchmark": "tatoeba", "languages": ("fr", "th"), "depth": 5, "spec": spec}
    return retrieving(tmp_path, encoder, data, name, *more, **pairs)


def test_each_text_is_encoded_once_and_ranks_as_if_twice(tmp_path, encoder, data, kinds, monkeypatch):
    retrieve.run(arguments(tmp_path, encoder, data))
    assert kinds == ["passage"] * 160
    monkeypatch.delattr(Tatoeba, "query_collection")
    retrieve.run(arguments(tmp_path, encoder, data, "twice"))
    assert sorted(kinds[160:]) == ["passage"] * 160 + ["query"] * 160
    for name in QUERY_SETS:
        once, twice = (read_run(tmp_path / out / f"runs/{name}.trec.gz") for out in ("out", "twice"))
        assert list(once.queries) == list(twice.queries)
        for query in once.queries:
            scores, others = ([score for _, score in run.hits(query)] for run in (once, twice))
            assert scores == pytest.approx(others, abs=1e-6)


@pytest.mark.parametrize(
    "other", [{"query_prompt": "query: "}, {"query_length": 8}, {"precision": "bfloat16"}, {"weights": "bfloat16"}]
)
def test_queries_that_are_not_encoded_as_passages_are_encoded_for_themselves(tmp_path, encoder, data, kinds, other):
    retrieve.run(arguments(tmp_path, encoder, data, spec=SPEC | other))
    assert kinds.count("query") == 160


@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        (search_job, "write_run", 2),  # one direction of a language done
        (collection.shutil, "rmtree", 2),  # both directions done, the vectors of one dropped
    ],
)
def test_kill_9_and_again_gives_the_same_runs(tmp_path, encoder, data, module, name, call):
    goes_on(retrieve, lambda folder: arguments(tmp_path, encoder, data, folder), module, name, call)


def test_several_processes_write_the_same_runs(tmp_path, encoder, data):
    """More processes than a collection has windows."""
    retrieve.run(arguments(tmp_path, encoder, data, "alone"))
    args = arguments(tmp_path, encoder, data, "together")
    assert forked(8, lambda rank: retrieve.run(args)) == [0] * 8
    assert files(tmp_path / "together") == files(tmp_path / "alone")


def test_kept_vectors_are_those_of_both_collections(tmp_path, encoder, data):
    retrieve.run(arguments(tmp_path, encoder, data, "out", SPEC, "--keep-index", str(tmp_path / "index")))
    sizes = {folder.name: len(np.load(folder / "vectors.npy")) for folder in (tmp_path / "index").iterdir()}
    assert sizes == {"fr": 50, "en-of-fr": 50, "th": 30, "en-of-th": 30}


# --- with calibrated vectors ------------------------------------------------------------------------------------------
LEARNT = ["fr-en", "en-th"]  # one as Tatoeba has it, one turned about


@pytest.fixture
def calibration(tmp_path, encoder):
    return drawn(tmp_path / "calibration", encoder, SPEC, ["en", "fr", "th"], LEARNT)


@pytest.fixture
def run(tmp_path, encoder, data, calibration):
    """run(operation, *more) -> {query set: {query: ids of its hits}} and the record."""

    def call(operation: str, *more: str, name: str = "out"):
        given = ("--calibration", str(calibration), "--operation", operation, *more)
        retrieve.run(arguments(tmp_path, encoder, data, name, SPEC, *given))
        runs = {each: read_run(tmp_path / name / f"runs/{each}.trec.gz") for each in QUERY_SETS}
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
    assert record["labels"] == ["generated data", "stand-in checkpoint"], "also the calibration's labels"


def test_queries_that_are_encoded_for_themselves_are_moved_by_their_own_language(run, monkeypatch):
    shared, _ = run("calibrated")
    monkeypatch.delattr(Tatoeba, "query_collection")
    apart, _ = run("calibrated", name="apart")
    first, second = ({name: [ids[0] for ids in of.values()] for name, of in hits.items()} for hits in (shared, apart))
    assert first == second


def test_another_operation_takes_up_no_vectors_of_a_killed_one(tmp_path, encoder, data, calibration, run):
    given = ("--calibration", str(calibration), "--operation", "shifted")
    args = arguments(tmp_path, encoder, data, "out", SPEC, *given)
    killed(lambda: retrieve.run(args), kill_at(search_job, "write_run", 2))
    after, _ = run("calibrated")
    assert after == run("calibrated", name="fresh")[0]


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
        retrieve.run(arguments(tmp_path, encoder, data, "out", spec, *given))
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
