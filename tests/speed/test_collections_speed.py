"""The benchmark of newswire runs, and all ways of reading find the same documents."""

import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_all_ways_of_reading_find_as_many_documents(tmp_path, capsys):
    sys.path.insert(0, str(Path(__file__).parent))
    from bench_collections import CASES, measure

    measured = measure(tmp_path, megabytes=2, repeats=1)  # which compares the numbers of documents
    with capsys.disabled():
        print(f"\nNewswire, MB a CPU second: { {name: found['mb_a_second'] for name, found in measured.items()} }")
    assert measured.keys() == CASES.keys() and all(found["documents"] > 300 for found in measured.values())
