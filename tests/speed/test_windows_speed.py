"""The benchmark of windows runs; speeds are printed, not asserted."""

from __future__ import annotations

import sys
from pathlib import Path


def test_the_benchmark_runs():
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_windows import measure

    actual = measure(documents=5, layers=1, width=32, repetitions=1)
    assert actual["windows"] > 5 and actual["ratio"] > 0 and actual["windows_per_second"] > 0
