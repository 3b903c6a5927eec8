"""The benchmarks of the knowledge base run, and all ways give the same rows. Speeds are printed, not asserted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.mark.slow
def test_the_joins_are_the_same_whoever_makes_them(tmp_path, capsys):
    from bench_knowledge_base import measure

    actual = measure(tmp_path, links=30_000, titles=3_000, memory=200, threads=2, repeats=1)
    with capsys.disabled():
        print(f"\nknowledge base, 30,000 links: {[(join, f['seconds']) for join, f in actual.items()]}")
    assert actual["symmetric"]["rows"] > 1000 and actual["titles"]["rows"] > 10_000


@pytest.mark.slow
def test_the_table_of_items_is_the_same_whoever_reads_it(tmp_path, capsys):
    from bench_page_entities import measure

    actual = measure(tmp_path, rows=20_000, repeats=1)
    with capsys.disabled():
        print(f"\npage entities, 20,000 rows: {actual['seconds']}")
    assert actual["rows"] == 20_000
