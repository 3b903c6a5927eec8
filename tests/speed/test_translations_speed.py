"""The benchmark of translations measures what it says: all ways find the same; speeds are printed, not asserted."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def test_translations_are_found_as_by_the_peers():
    from bench_translations import measure

    actual = measure(2000, repetitions=2)
    assert 0.3 < actual["found"][0] < 0.99, "otherwise nothing is compared"
    assert all(share > 0.995 for same in actual["same"].values() for share in same)  # the peers round otherwise
    assert all(ratio > 0 for ratio in actual["ratio"].values())
