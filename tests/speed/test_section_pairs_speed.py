"""The benchmark of section pairs: its peers read and match the same, and the reader that parses less takes less."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def test_ours_and_the_peers_match_alike():
    from bench_section_pairs import measure_alignment

    made = measure_alignment(pages=400)
    assert made["pairs"] > 200 and made["ratio"]["page_by_page"] > 0


def test_vectors_are_read_faster_than_by_those_that_parse_every_line():
    from bench_section_pairs import measure_vectors

    made = measure_vectors(words=20_000)
    assert made["ratio"]["pandas"] >= 1 and made["ratio"]["muse"] >= 1
