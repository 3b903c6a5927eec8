"""The benchmark of scoring runs, and its peer gives the same values."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


def test_ours_and_the_peer_score_alike():
    pytest.importorskip("polars", reason="the benchmark's peer reads with polars")
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_scoring import measure

    actual = measure(queries=60, depth=20, repetitions=1)
    assert actual["ours"] == pytest.approx(actual["peer"], abs=1e-12)
    assert 0 < actual["ours"]["mrr@100"] < 1
