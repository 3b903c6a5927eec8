"""The benchmark of scoring runs, and its peer gives the same values."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


def test_ours_and_the_peer_score_alike():
    pytest.importorskip("polars", reason="the benchmark's peer reads with polars")
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_scoring import measure

    found = measure(queries=60, depth=20, repetitions=1)
    assert found["ours"] == pytest.approx(found["peer"], abs=1e-12)
    assert 0 < found["ours"]["mrr@100"] < 1
