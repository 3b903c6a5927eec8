"""Queries that several searches ask (Belebele): encoded once, runs as if each encoded its own, after kill -9 too."""

from __future__ import annotations

import json

import numpy as np
import pytest
from recorded import record
from test_retrieve import SPEC, WORDS, files, kill_at, killed

from stele.retrieval import retrieve
from stele.retrieval.dense import processes
from tests.forked import forked
from tests.jobs import job

PAIRS = ["ru-ru", "ru-en", "en-ru", "en-en", "sw-sw", "sw-en", "en-sw"]
VARIANTS = {"ru": "rus_Cyrl", "en": "eng_Latn", "sw": "swh_Latn"}
ROWS, LINKS = 8, 5


@pytest.fixture
def data(tmp_path) -> str:
    for seed, variant in enumerate(VARIANTS.values()):
        rng = np.random.default_rng(seed)
        (folder := tmp_path / "belebele").mkdir(exist_ok=True)
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(ROWS + LINKS)]
        rows = [
            {"link": f"l{n % LINKS}", "flores_passage": texts[n % LINKS], "question": f"{texts[LINKS + n]} {WORDS[n]}"}
            for n in range(ROWS)
        ]
        (folder / f"{variant}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"belebele:all={record(folder, content='belebele', labels=[])}"


def arguments(tmp_path, encoder, data, name):
    line = ["--benchmark", "belebele", "--languages", *PAIRS, "--encoder", str(encoder), "--depth", "5"]
    line += ["--encoding", json.dumps(SPEC), "--data", data, "--state", str(tmp_path / "state" / name)]
    return job(retrieve, [*line, "--output", str(tmp_path / name / "retrieval.json"), "--threads", "1"])


@pytest.fixture
def encoded(monkeypatch) -> list[str]:
    """The kinds of the texts that are encoded, as they come."""
    from stele.encoders.encode import Encoder

    kinds, original = [], Encoder._encode

    def spy(self, tokens, kind, *more, **options):
        kinds.extend([kind] * len(tokens.lengths))
        return original(self, tokens, kind, *more, **options)

    monkeypatch.setattr(Encoder, "_encode", spy)
    return kinds


def runs(tmp_path, name):
    return files(tmp_path / name)


def test_each_passage_and_each_question_is_encoded_once_and_ranks_the_same(
    tmp_path, encoder, data, encoded, monkeypatch
):
    retrieve.run(arguments(tmp_path, encoder, data, "once"))
    assert (encoded.count("passage"), encoded.count("query")) == (3 * LINKS, 3 * ROWS)
    assert not (tmp_path / "state/once").exists()
    encoded.clear()
    monkeypatch.setattr(processes.SharedQueries, "vectors", lambda self, query_set, encode: encode())
    retrieve.run(arguments(tmp_path, encoder, data, "apart"))
    assert (encoded.count("passage"), encoded.count("query")) == (3 * LINKS, len(PAIRS) * ROWS)
    assert runs(tmp_path, "once") == runs(tmp_path, "apart") and len(runs(tmp_path, "once")) == len(PAIRS)


def test_a_killed_job_goes_on_and_two_processes_write_the_same_bytes(tmp_path, encoder, data):
    retrieve.run(arguments(tmp_path, encoder, data, "whole"))
    args = arguments(tmp_path, encoder, data, "killed")
    killed(args, kill_at(processes, "atomic_file", 3))
    assert len(list((tmp_path / "state/killed").rglob("queries/*.npy"))) == 2
    retrieve.run(args)
    two = arguments(tmp_path, encoder, data, "two")
    assert forked(2, lambda rank: retrieve.run(two)) == [0, 0]
    assert runs(tmp_path, "whole") == runs(tmp_path, "killed") == runs(tmp_path, "two")
