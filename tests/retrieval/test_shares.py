"""Shares of a stream: even, whole windows, the same for all; and a search of parts is a search of the whole."""

from itertools import chain

import numpy as np
import pytest

from stele.retrieval.dense.exact_search import TopK
from stele.retrieval.dense.processes import Shares, in_order


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
