"""The benchmark of the Fisher test runs and compares equal things. Speeds are printed, not asserted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.mark.slow
def test_the_benchmark_compares_equal_things(capsys):
    from bench_significance import measure

    actual = measure(queries=200, permutations=4000, repeats=1)
    with capsys.disabled():
        print(f"\nFisher test: {actual['times_faster']} times faster than ranx at 200 queries")
    assert actual["ranx_s"] > 0 and actual["ranx_default_threads_s"] > 0 and actual["ours_s"] > 0
    assert 0.005 < actual["p_ours"] < 0.9  # both are estimates of a p-value that is not at an end
    assert actual["standard_errors_apart"] < 5
