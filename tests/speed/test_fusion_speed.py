"""The benchmarks of fusion and of expansion measure what they say."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))


def test_all_weights_at_once_are_the_metric_s_values():
    from bench_fusion import ours, peer, random_topics

    topics = random_topics(3)
    actual = ours(topics)
    assert actual == pytest.approx(peer(topics), abs=1e-12)
    assert actual.shape == (3, 101) and len(np.unique(actual)) > 100


def test_an_expanded_search_finds_what_the_plain_one_finds_and_ranks_it_anew():
    from bench_rm3 import measure

    actual = measure(number=400, topics=5, repetitions=1, term_filter="none")
    plain, expanded = actual["hits"]["bm25"], actual["hits"]["rm3"]
    for one, other in zip(plain, expanded, strict=True):
        assert one != other and {name for name, _ in one} <= {name for name, _ in other}
