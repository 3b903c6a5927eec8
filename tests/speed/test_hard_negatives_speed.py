"""The benchmark of mining negatives searches as its peer does: a flat index finds the same, but for float32 ties."""

from __future__ import annotations

import sys
from pathlib import Path


def test_ours_and_the_peer_find_the_same(monkeypatch):
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_hard_negatives import measure

    from stele.retrieval import hard_negatives

    monkeypatch.setattr(hard_negatives, "HITS", 1_000)  # several parts
    actual = measure(questions=70, passages=900, dimension=16, threads=1)
    assert actual["same"] > 0.999
    assert all(actual[name] > 0 for name in ("ratio", "cpu_ratio", "msmarco_hours"))
