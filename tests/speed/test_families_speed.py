"""The benchmarks of today's encoders run and compare like with like; speeds are printed, not asserted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))


@pytest.mark.parametrize("family", ["e5", "bge_m3", "gte", "qwen3", "gemma", "harrier"])
def test_each_family_is_compared_with_the_same_vectors(family):
    from bench_families import FAMILIES, measure

    assert family in FAMILIES
    actual = measure(family, number=12, repetitions=1, width=64, layers=1)
    assert actual["largest_difference"] < 1e-5
    assert actual["tokens"] > 12 and actual["ratio"] > 0 and actual["cpu_ratio"] > 0
    assert "peak_share" not in actual, "of a GPU alone"


@pytest.mark.parametrize(("family", "inner"), [("e5", 2), ("qwen3", 3)])
def test_operations_of_a_family_by_hand(tmp_path, family, inner):
    """Query, key, value, output, and the feed-forward layer's maps: two, or three where one is a gate."""
    import numpy as np
    from bench_families import FAMILIES, make_folder, operations

    from stele.encoders.load import load_encoder

    model = load_encoder(make_folder(tmp_path, FAMILIES[family], 64, 2)).model("passage")
    tokens, squares = 3 + 5, 9 + 25
    layer = tokens * 2 * (4 * 64 * 64 + inner * 64 * 256) + 2 * 2 * squares * 64
    assert operations(model, np.array([3, 5])) == 2 * layer


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_a_gpu_reaches_a_share_of_its_peak(capsys):
    from bench_families import measure

    found = measure("e5", 2_000, 2, width=1024, layers=4, weights="bfloat16", device="cuda")
    with capsys.disabled():
        print(f"\n{found}")
    assert 0 < found["peak_share"] < 1


def test_belebele_is_searched_both_ways():
    from bench_belebele import measure

    actual = measure(passages=3, questions=5, width=64, layers=1, languages=["en-en", "ru-en", "en-ru", "ru-ru"])
    assert actual["searches"] == 4 and actual["share"] > 0
