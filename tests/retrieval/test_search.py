"""Exact search equals a full float64 ranking, does not depend on how passages come, and is shared among processes."""

import sys
from itertools import chain

import numpy as np
import pytest

from stele.retrieval.dense import exact_search
from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.processes import Shares, in_order
from tests.pretended_gpu import on_pretended_gpu


def reference(queries: np.ndarray, vectors: np.ndarray, ids: np.ndarray, k: int) -> list[list[tuple[str, float]]]:
    """Every score in float64, rounded to float32, sorted by (score, id) descending."""
    collected = []
    for query in queries:
        scores = (query.astype(np.float64) * vectors.astype(np.float64)).sum(1).astype(np.float32)
        order = np.lexsort((ids, scores))[::-1][:k]
        collected.append([(ids[i].decode(), float(scores[i])) for i in order])
    return collected


def run(queries, vectors, ids, k, cuts=(), **options) -> list[list[tuple[str, float]]]:
    best = TopK(queries, k, **options)
    for part, names in zip(np.split(vectors, cuts), np.split(ids, cuts), strict=True):
        best.add(part, names)
    return list(best.hits())


@pytest.fixture
def crowd():
    """3,000 passages of which a third is there again under other ids, some of them very often."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((3000, 24)).astype(np.float32)
    vectors[2000:] = vectors[rng.integers(0, 60, 1000)]
    vectors[2900:] = vectors[7]
    ids = np.array([f"p{i}" for i in rng.permutation(3000)], dtype="S5")
    return rng.standard_normal((40, 24)).astype(np.float32), vectors, ids


@pytest.mark.parametrize("k", [1, 10, 100])
def test_equals_the_full_ranking_with_duplicated_passages(crowd, k):
    assert run(*crowd, k) == reference(*crowd, k)


def test_near_ties_are_decided_by_exact_scores():
    """Scores that differ in the last bits, where float32 products of different shapes disagree."""
    rng = np.random.default_rng(2)
    base = rng.standard_normal(512).astype(np.float32)
    vectors = np.repeat(base[None], 400, 0) + rng.standard_normal((400, 512)).astype(np.float32) * 1e-7
    ids = np.array([f"{i}" for i in range(400)], dtype="S3")
    queries = np.stack([base, -base, base * 1e3])
    assert run(queries, vectors, ids, 50, block_rows=61) == reference(queries, vectors, ids, 50)


def test_all_passages_alike(monkeypatch):
    """A collapsed encoder: every passage is a candidate; they are taken a part at a time, highest id first."""
    monkeypatch.setattr(exact_search, "MAX_PAIRS", 100)
    vectors, queries = np.ones((90, 4), np.float32), np.ones((5, 4), np.float32)
    ids = np.array([f"{i:02d}" for i in range(90)], dtype="S2")
    actual = run(queries, vectors, ids, 3, [10, 40], block_rows=16)
    assert actual == [[("89", 4.0), ("88", 4.0), ("87", 4.0)]] * 5


def test_fewer_passages_than_asked_for():
    vectors = np.eye(3, dtype=np.float16)
    actual = run(np.eye(3, dtype=np.float32)[:1], vectors, np.array([b"a", b"b", b"c"]), 100, [1])
    assert actual == [[("a", 1.0), ("c", 0.0), ("b", 0.0)]]


def test_memory_is_bounded_by_the_block(monkeypatch):
    """No scores are held for more than MAX_PAIRS pairs, though more copies than faiss returns make it look at all."""
    held, candidates = [], TopK._candidates

    def spy(self, block):
        for query, passage in candidates(self, block):
            if len(query) and np.bincount(query).max() > 5 + exact_search.EXTRA:  # a whole block was looked at
                held.append(len(np.unique(query)) * len(block))
            yield query, passage

    monkeypatch.setattr(TopK, "_candidates", spy)
    monkeypatch.setattr(exact_search, "MAX_PAIRS", 8 * 64)
    rng = np.random.default_rng(4)
    vectors, queries = (rng.standard_normal((n, 8)).astype(np.float32) for n in (1000, 20))
    vectors[500:] = queries[:15] = vectors[0]
    ids = np.array([f"{i:03d}" for i in range(1000)], dtype="S3")
    assert run(queries, vectors, ids, 5, block_rows=64) == reference(queries, vectors, ids, 5)
    assert held and max(held) <= 8 * 64


@pytest.mark.parametrize("extra", [0, 1])
def test_does_not_depend_on_how_many_candidates_faiss_is_asked_for(crowd, monkeypatch, extra):
    whole = run(*crowd, 20)
    monkeypatch.setattr(exact_search, "EXTRA", extra)
    assert run(*crowd, 20, block_rows=400) == whole


def test_candidates_of_a_device_s_product_give_the_same(crowd, monkeypatch):
    """torch calls the CPU cpu:0, too, and searches there as on a GPU; without a copy of faiss."""
    expected = {k: run(*crowd, k) for k in (20, 2_999)}
    monkeypatch.setitem(sys.modules, "faiss", None)
    for k, hits in expected.items():
        assert run(*crowd, k, device="cpu:0", block_rows=999) == hits


def test_a_gpu_finds_the_same(crowd):
    expected = run(*crowd, 20)

    def search():
        assert run(*crowd, 20, device="cuda") == expected

    assert on_pretended_gpu(search) == 0


@pytest.mark.parametrize(
    ("number", "world", "window"), [(997, 4, 16), (300, 7, 1), (50, 3, 64), (64, 8, 16), (0, 2, 5), (100, 1, 16)]
)
def test_every_text_has_one_owner_and_windows_stay_whole(number, world, window):
    items = list(range(number))
    shares = [Shares(rank, world, window) for rank in range(world)]
    assigned = [list(share.assigned(iter(items))) for share in shares]
    assert all(share.read == number for share in shares)
    windows = [items[start : start + window] for start in range(0, number, window)]
    for rank in range(world):
        assert assigned[rank] == list(chain.from_iterable(windows[rank::world])), "whole windows, in turn"
    joined = [item for owner, rows in in_order(number, world, window) for item in assigned[owner][rows]]
    assert joined == items


def test_the_stream_is_not_read_ahead():
    """Memory: what another process owns is passed over, text by text."""
    read = []
    for number in Shares(0, 2, 16).assigned(read.append(number) or number for number in range(100)):
        assert read[-1] == number


@pytest.mark.parametrize("world", [2, 3, 7])
def test_a_search_of_parts_is_a_search_of_the_whole(world):
    """Copies under other ids are ties over the bounds of parts; one part is empty, one has fewer than k."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((600, 8)).astype(np.float32)
    vectors[300:] = vectors[rng.integers(0, 40, 300)]
    ids = np.array([f"p{i}" for i in rng.permutation(600)], dtype="S4")
    queries = rng.standard_normal((9, 8)).astype(np.float32)
    whole = TopK(queries, 20)
    whole.add(vectors, ids)
    owner = rng.integers(0, world - 1, 600)  # the last has nothing
    owner[:5] = world - 1 if world == 7 else 0
    parts = []
    for rank in range(world):
        best = TopK(queries, 20)
        best.add(vectors[owner == rank], ids[owner == rank].astype(f"S{4 + rank}"))
        parts.append(best)
    for part in parts[1:]:
        parts[0].join(part.best_hits())
    assert list(parts[0].hits()) == list(whole.hits())
