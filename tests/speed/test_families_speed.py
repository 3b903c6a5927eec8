"""The benchmarks of today's encoders run and compare like with like; speeds are printed, not asserted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.mark.parametrize("family", ["e5", "bge_m3", "gte", "qwen3", "gemma", "harrier"])
def test_each_family_is_compared_with_the_same_vectors(family):
    from bench_families import FAMILIES, measure

    assert family in FAMILIES
    actual = measure(family, number=12, repetitions=1, width=64, layers=1)
    assert actual["largest_difference"] < 1e-5
    assert actual["tokens"] > 12 and actual["ratio"] > 0 and actual["cpu_ratio"] > 0


def test_belebele_is_searched_both_ways():
    from bench_belebele import measure

    actual = measure(passages=3, questions=5, width=64, layers=1, languages=["en-en", "ru-en", "en-ru", "ru-ru"])
    assert actual["searches"] == 4 and actual["share"] > 0
