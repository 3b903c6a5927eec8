"""Queries that several searches ask (Belebele): encoded once, runs as if each encoded its own, after kill -9 too."""

from itertools import count

import numpy as np
import pytest
from recorded import WORDS, files, put, record, retrieving

from stele.retrieval import retrieve
from tests.forked import forked
from tests.killing import kill_at, killed

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
        put(folder / f"{variant}.jsonl", rows)
    return f"belebele:all={record(folder, content='belebele', labels=[])}"


def arguments(tmp_path, encoder, data, name, *more, languages=PAIRS):
    return retrieving(tmp_path, encoder, [data], name, *more, benchmark="belebele", languages=languages, depth=5)


def test_each_passage_and_each_question_is_encoded_once_and_ranks_the_same(tmp_path, encoder, data, kinds, monkeypatch):
    retrieve.run(arguments(tmp_path, encoder, data, "once"))
    assert (kinds.count("passage"), kinds.count("query")) == (3 * LINKS, 3 * ROWS)
    assert not (tmp_path / "state/once").exists()
    kinds.clear()
    names = count()
    monkeypatch.setattr(retrieve, "digest", lambda name: next(names))  # of files that are not there
    retrieve.run(arguments(tmp_path, encoder, data, "apart"))
    assert (kinds.count("passage"), kinds.count("query")) == (3 * LINKS, len(PAIRS) * ROWS)
    assert files(tmp_path / "once") == files(tmp_path / "apart") and len(files(tmp_path / "once")) == len(PAIRS)


def test_a_killed_job_goes_on_and_two_processes_write_the_same_bytes(tmp_path, encoder, data):
    retrieve.run(arguments(tmp_path, encoder, data, "whole"))
    args = arguments(tmp_path, encoder, data, "killed")
    killed(lambda: retrieve.run(args), kill_at(retrieve, "atomic_file", 3))
    assert len(list((tmp_path / "state/killed").rglob("queries/*.npy"))) == 2
    retrieve.run(args)
    two = arguments(tmp_path, encoder, data, "two")
    assert forked(2, lambda rank: retrieve.run(two)) == [0, 0]
    assert files(tmp_path / "whole") == files(tmp_path / "killed") == files(tmp_path / "two")


def test_a_quick_try_takes_no_passages_of_a_killed_one_with_other_searches(tmp_path, encoder, data, monkeypatch):
    """Each search of a collection adds to its sample."""
    monkeypatch.setattr(retrieve, "OTHERS", 1)
    one = arguments(tmp_path, encoder, data, "killed", "--limit", "1", languages=["ru-en"])
    killed(lambda: retrieve.run(one), kill_at(retrieve.FinishedSearches, "save"))
    for name in ("killed", "whole"):
        retrieve.run(arguments(tmp_path, encoder, data, name, "--limit", "1", languages=["ru-en", "ru-ru"]))
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
