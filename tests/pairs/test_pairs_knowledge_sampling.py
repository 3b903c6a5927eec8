"""Sampling on numbers, and the way from numbers to texts with little memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stele.artifacts import knowledge_base
from stele.pairs import knowledge_pairs
from stele.pairs.knowledge_pairs import Spool
from stele.pairs.mining import knowledge
from stele.pairs.mining.knowledge import Candidates, hashed, sample, swapped


def pairs(count, seed=0):
    numbers = np.random.default_rng(seed).permutation(10 * count)[: 2 * count].astype(np.uint64)
    return Candidates(numbers[:count], numbers[count:])


def batches(candidates, size):
    return [Candidates(*(c[i : i + size] for c in candidates)) for i in range(0, len(candidates.query), size)]


@pytest.mark.parametrize("most", [None, 1, 7, 500, 4000])
def test_sample_is_the_first_of_all_however_it_is_cut(monkeypatch, most):
    """Reference: all hashes sorted at once. Steps of 64 candidates, so that what is kept is cut often."""
    monkeypatch.setattr(knowledge, "BATCH", 64)
    candidates = pairs(3000)
    order = np.argsort(hashed(candidates, 5), kind="stable")[:most]
    for size in (1, 33, 5000):
        given = batches(candidates, size) if size > 1 else batches(Candidates(*(c[::-1] for c in candidates)), 10)
        actual, total = sample(given, 5, most)
        assert total == 3000
        assert (actual.query == candidates.query[order]).all() and (actual.passage == candidates.passage[order]).all()


def test_equal_hashes_are_told_apart_by_the_numbers(monkeypatch):
    """With hashes of two bits, every order of the candidates still draws the same."""
    monkeypatch.setattr(knowledge, "BATCH", 64)
    monkeypatch.setattr(knowledge, "hashed", lambda candidates, key: candidates.query % np.uint64(4))
    candidates = pairs(1000)
    order = np.lexsort((candidates.passage, candidates.query, candidates.query % 4))[:300]
    for seed in range(5):
        turned = np.random.default_rng(seed).permutation(1000)
        actual, _ = sample(batches(Candidates(*(c[turned] for c in candidates)), 10), 5, 300)
        assert (actual.query == candidates.query[order]).all()


def test_the_coin_has_no_say_in_the_order():
    """Half of the pairs are exchanged, among those drawn first as among all."""
    candidates = pairs(20_000)
    turned = swapped(candidates, 9)
    queries = set(candidates.query.tolist())
    first = sample([turned], 9, 2000)[0]
    for share, size in (
        (np.mean([q in queries for q in turned.query.tolist()]), 20_000),
        (np.mean([q in queries for q in first.query.tolist()]), 2000),
    ):
        assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(size)


def test_spool_with_little_memory(monkeypatch, tmp_path):
    """Texts added in any order come back by candidate, from several buckets and many writes."""
    monkeypatch.setattr(knowledge_pairs, "BUFFER", 50)
    texts = {(row, side): f"text {row}/{side} ж" for row in range(100) for side in (0, 1) if (row + side) % 7}
    with Spool(tmp_path / "a", 100, bucket=16) as spool:
        for row, side in np.random.default_rng(0).permutation(list(texts)).tolist():
            spool.add(row, side, texts[row, side])
        actual = list(spool.pairs())
    assert actual == [(row, texts.get((row, 0)), texts.get((row, 1))) for row in range(100)]
    assert len(list((tmp_path / "a").iterdir())) == 7


def test_spool_opens_few_files(monkeypatch, tmp_path):
    monkeypatch.setattr(knowledge_pairs, "BUCKETS", 3)
    with Spool(tmp_path / "a", 1000, bucket=10) as spool:
        for row in range(1000):
            spool.add(row, 0, "text")
        assert sum(query == "text" for _, query, _ in spool.pairs()) == 1000
    assert len(list((tmp_path / "a").iterdir())) == 3


def test_a_folder_s_name_is_no_column_of_its_links(tmp_path):
    """DuckDB takes page=3/ for a partition whose rows all have that page, unless it is told not to."""
    (folder := tmp_path / "page=3").mkdir()
    links = pa.table([[0, 1], [4, 5], [1, 0]], schema=knowledge_base.LINKS_SCHEMA)
    pq.write_table(links, folder / knowledge_base.LINKS)
    (batch,) = knowledge_base.symmetric_pairs(folder / knowledge_base.LINKS, 64, 1, tmp_path)
    assert batch.to_pylist() == [{"page_a": 0, "sentence_a": 4, "page_b": 1, "sentence_b": 5}]
