"""The benchmark of Tatoeba's exports runs, and an independent join finds the same links; memory is bounded."""

import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_links_are_the_same_whoever_joins_them(tmp_path, capsys):
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_tatoeba_exports import PAIRS, measure

    found = measure(tmp_path, sentences=200_000, links=400_000, repeats=1)
    with capsys.disabled():
        print(f"\nTatoeba's exports, 200,000 sentences: {found['cpu_seconds']}, {found['peak_mb']} MB")
    assert found["linked"].keys() == set(PAIRS) and min(found["linked"].values()) > 20
    assert found["peak_mb"]["ours"] < 2_000 / 13 + 200  # a 65th of the real size, and what Python takes
