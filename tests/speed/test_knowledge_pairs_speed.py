"""The benchmark of mining text pairs: its peers draw the same, and its pairs are all there."""

from __future__ import annotations

import sys
from pathlib import Path


def test_ours_and_the_peers_draw_alike():
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_knowledge_pairs import measure_sample, measure_texts

    actual = measure_sample(count=200_000, most=300)
    assert set(actual["ratio"]) == {"duckdb", "numpy"} and actual["candidates_per_second"] > 0
    made = measure_texts(pages=50, pairs=400)
    assert 390 < made["pairs"] <= 400 and made["ratio"]["floor"] > 0
