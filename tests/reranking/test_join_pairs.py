"""The command `join_pairs`: the runs of all pairs as they are, of one model and recipe."""

import json

import pytest

from stele.artifacts.records import read_record
from stele.errors import SteleError
from stele.reranking import join_pairs
from tests.jobs import job

SUMS = {"scorer": "bwe_agg", "weights": "uniform"}


def join(folder, *records):
    join_pairs.run(job(join_pairs, ["--pairs", *map(str, records), "--output", str(folder / "all/retrieval.json")]))
    return folder / "all"


def test_the_runs_of_the_pairs_are_one_record_s(rerank, tmp_path):
    pairs = [rerank(code, SUMS, languages=[code]) for code in ("en-de", "de-de")]
    both = join(tmp_path, *(pair / "retrieval.json" for pair in pairs))
    record = read_record(both / "retrieval.json")
    whole = read_record(rerank("whole", SUMS, languages=["en-de", "de-de"]) / "retrieval.json")
    assert record["content"] == whole["content"] and record["searches"] == whole["searches"]
    assert record["labels"] == ["generated data"] and record["model"] == "tiny"
    for pair, name in zip(pairs, ("en-de", "de-de"), strict=True):
        run = f"runs/{name}.trec.gz"
        assert (both / run).read_bytes() == (pair / run).read_bytes()


def test_pairs_of_other_recipes_and_those_that_come_twice_are_refused(rerank, tmp_path):
    one, again = rerank("a", SUMS) / "retrieval.json", rerank("b", SUMS) / "retrieval.json"
    with pytest.raises(SteleError, match=r"en-de is in .*, too"):
        join(tmp_path, one, again)
    other = rerank("c", {**SUMS, "weights": "idf"}, languages=["de-de"]) / "retrieval.json"
    with pytest.raises(SteleError, match=r"recipe is .*'idf'.*, want .*'uniform'.* as in "):
        join(tmp_path, one, other)
    assert not (tmp_path / "all").exists()
    assert "idf" in json.dumps(read_record(other)["recipe"])
