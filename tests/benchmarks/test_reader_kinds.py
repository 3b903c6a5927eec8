"""What a command asks of a benchmark's file is said where it enters, and what a new benchmark need not define."""

import pytest

from stele.benchmarks import reader
from stele.benchmarks.load import load_reader
from stele.benchmarks.types import LeftOut, Passage, Query, QuerySet
from stele.errors import SteleError


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("squad", reader.RetrievalReader, "benchmark squad has no queries to search"),
        ("xsa", reader.RetrievalReader, "benchmark xsa has no queries to search"),
        ("mrtydi", reader.AnsweringReader, "benchmark mrtydi has no questions about paragraphs"),
        ("lareqa", reader.TrainingReader, "training set lareqa has no training examples"),
        ("squad2", reader.TrainingReader, "training set squad2 has no training examples"),
        ("types", reader.BenchmarkReader, "benchmark types has no query sets"),
        ("mrtidy", reader.BenchmarkReader, "mrtydi"),
    ],
)
def test_a_file_of_another_kind_is_refused(name, kind, message):
    with pytest.raises(SteleError, match=message):
        load_reader(name, kind)


@pytest.mark.parametrize(
    ("name", "pair", "message"),
    [
        ("belebele", "ru-", "'ru-': want the variants of passages and of questions, e.g. ru-en"),
        ("mlqa", "de-en-", "'de-en-': want question and answer language, e.g. de-en"),
        ("clef", "en--de", "'en--de': want query and document language, e.g. en-de"),
    ],
)
def test_a_pair_of_another_form_is_refused(name, pair, message):
    with pytest.raises(SteleError, match=message):
        load_reader(name, reader.BenchmarkReader).query_sets([pair])


class Made(reader.RetrievalReader):
    def queries(self, data, query_set):
        yield Query("q", "who wrote it")

    def passages(self, data, collection):
        yield from (Passage(name, "", f"{name} of {collection}") for name in "ab")


def test_what_a_new_benchmark_need_not_define():
    made, (query_set,) = Made(), Made().query_sets(["ru"])
    assert query_set == QuerySet("ru", "ru", "ru") and made.AVERAGE == "macro"
    assert made.texts({}, "ru", {"b", "c"}) == {"b": "b of ru"}
    assert made.left_out({}, query_set) == LeftOut() and made.query_collection(query_set) is None
    assert made.asked_in(query_set) == "ru" and made.parts("ru") == ["ru"]
    with pytest.raises(SteleError, match="is scored by judgments; it has no answers"):
        made.answers({}, query_set)


def test_a_new_benchmark_without_its_passages_is_no_reader():
    class Half(reader.RetrievalReader):
        def queries(self, data, query_set):
            yield Query("q", "who wrote it")

    with pytest.raises(TypeError, match="passages"):
        Half()
