"""The benchmark of dumps: what it replicates is a dump, and its parts do the work that the command does."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    from bench_dumps import measure

    return measure


def test_the_parts_do_the_work_of_the_whole(measure, tmp_path):
    from stele_world.writers.dump import Page, multistream

    texts = ["'''One''' is [[two]]. It has [[three|3]].\n\n* A [[list]].", "Two. Three."] * 30
    pages = [Page(n, 0, f"Page {n}", text) for n, text in enumerate(texts)]
    pages += [Page(100, 0, "Old", "#REDIRECT [[Page 1]]", redirect="Page 1"), Page(101, 10, "Template:A", "x")]
    _, xml, _ = multistream("en", "enwiki", pages)
    actual = measure(xml, times=5, repetitions=1, folder=tmp_path)
    assert actual["pages"] == 5 * 62 and actual["alone"]["xml_bytes"] == actual["xml_bytes"]
    whole, shards = actual["counts"]["whole"], [actual["counts"][f"{n}-of-2"] for n in (1, 2)]
    assert whole == {"documents": 300, "links": 450, "sentences": 750, "redirects": 5}
    assert {key: sum(shard[key] for shard in shards) for key in whole} == whole == actual["counts"]["1-of-1"]
    assert all(shard["documents"] for shard in shards)
    alone = actual["alone"]
    assert (alone["articles"], alone["links"], alone["sentences"]) == (300, 450, 750)
