"""The benchmark of dividing a collection runs; speeds are printed, not asserted."""

from __future__ import annotations

import sys
from pathlib import Path


def test_the_benchmark_runs():
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_shares import measure

    actual = measure(passages=300, repetitions=1)
    assert all(actual[f"{way}_per_second"] > 0 for way in ("reading", "among_1", "among_8", "tokenising"))
