"""The benchmark of judging runs and judges what it made. Speeds are printed, not asserted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.mark.slow
def test_the_benchmark_judges_one_paper(capsys):
    from bench_claims import measure

    actual = measure(["kept"], seeds=(3, 1), queries=20, languages=12)
    with capsys.disabled():
        print(f"\nClaims: {actual['claims']} judged in {actual['cpu_s']} s of {actual['files']} files")
    assert actual["claims"] == 76 and actual["states"].get("no data", 0) < 20 and actual["cpu_s"] > 0
