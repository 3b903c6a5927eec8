"""Every benchmark of the catalogue can be scored: its code, its average and its metrics are there."""

import pytest

from stele import catalogue
from stele.benchmarks.collection import AdHocCollection
from stele.benchmarks.load import load_reader
from stele.benchmarks.reader import BenchmarkReader
from stele.benchmarks.types import QuerySet
from stele.errors import SteleError
from stele.evaluation.metrics import load_metric

PAPERS = [  # the benchmarks of the five papers' tables
    *("mrtydi", "xor_retrieve", "mewsli_x", "lareqa", "nq", "tatoeba", "clef", "mlqa", "xsa", "xda"),
    *("ntcir8_zh", "trec2002_ar", "clef2006_fr", "fire2012_hi", "fire2012_bn", "trec3_es"),
]


@pytest.mark.parametrize("name", PAPERS)
def test_a_benchmark_of_the_papers_can_be_scored(name):
    entry, reader = catalogue.load("benchmarks")[name], load_reader(name, BenchmarkReader)
    assert reader.AVERAGE in ("macro", "micro")
    query_sets = reader.query_sets(entry["languages"])
    assert all(isinstance(query_set, QuerySet) for query_set in query_sets)
    assert {query_set.language for query_set in query_sets} <= set(entry["languages"])
    for metric in entry["metrics"]:
        assert load_metric(metric).values
    gold = "judgments" if reader.SCORED_BY == "judgments" else "answers"
    assert getattr(type(reader), gold) is not getattr(BenchmarkReader, gold)


def test_a_collection_is_judged_by_its_one_file_of_judgments(tmp_path):
    reader, query_set = AdHocCollection(), QuerySet("es", "es", "es")
    (tmp_path / "topics.txt").write_text("x")
    with pytest.raises(SteleError, match=r"want one file of judgments, named \*qrels\*; found none"):
        reader.judgments({"trec3_es": {"all": tmp_path}}, query_set)
    (tmp_path / "topics.txt").unlink()  # a system's run is scored without topics, too
    (tmp_path / "sp26.qrels.txt").write_text("SP26 0 DOC-1 1\nSP26 0 DOC-2 -1\n")
    assert reader.judgments({"trec3_es": {"all": tmp_path}}, query_set) == {"SP26": {"DOC-1": 1, "DOC-2": -1}}
    (tmp_path / "other.qrels").write_text("SP26 0 DOC-1 1\n")
    with pytest.raises(SteleError, match=r"found other\.qrels, sp26\.qrels\.txt\. Keep one there"):
        reader.judgments({"trec3_es": {"all": tmp_path}}, query_set)
