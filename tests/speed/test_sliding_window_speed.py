"""The benchmark of sliding windows runs; times are printed, not asserted. What memory grows with is arithmetic."""

from __future__ import annotations

import sys
from pathlib import Path


def test_windows_keep_less_than_full_attention_of_the_same_length():
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_sliding_window import LENGTHS, measure

    sizes = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
    actual = measure(sizes, window=16, query=8, repetitions=1)
    assert all(actual[f"{name}_seconds"] > 0 for name in LENGTHS)
    assert actual["memory_to_full_1024"] < 1 and actual["full_1024_mib"] > actual["full_512_mib"]
