"""The benchmark of rendering runs and measures what it says. Speeds are printed, not asserted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.mark.slow
def test_the_benchmark_renders_everything_and_the_same_grids(root, tmp_path, capsys):
    from bench_tables import commands, parts

    specs = sorted((root / "paper_tables/clir_lm").glob("table_*.yaml"))
    actual = parts(specs, tmp_path, None)
    with capsys.disabled():
        print(f"\nTables: {actual['times_pandas']} times as long as pandas takes, over {actual['boxes']} boxes")
    assert actual["tables"] == 8 and actual["cells"] == 354 and actual["boxes"] > 2 * 346
    assert actual["grids_s"] > 0 and actual["pandas_s"] > 0
    taken = commands(specs[:1], tmp_path, None)
    assert taken.keys() == {"table", "figure", "cells", "all_tables"} and all(
        one["cpu_s"] > 0 for one in taken.values()
    )
