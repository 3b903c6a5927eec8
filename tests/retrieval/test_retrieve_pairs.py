"""Aligned texts (Tatoeba): one collection's texts are another's queries, each encoded once, also after kill -9."""

import numpy as np
import pytest
import test_retrieve as retrieval
from recorded import SPEC, WORDS, files, goes_on, record, retrieving

from stele.artifacts.run_files import read_run
from stele.benchmarks.tatoeba import Tatoeba
from stele.retrieval import retrieve
from stele.retrieval.dense import collection
from stele.retrieval.searches import search_job
from tests.forked import forked

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
