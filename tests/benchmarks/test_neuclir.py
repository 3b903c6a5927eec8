"""NeuCLIRBench's files: who is asked what, gains as they stand, what is damaged or of other ids."""

import pytest
from written import put, rows

from stele.benchmarks.neuclir_clir import NeuclirClir
from stele.benchmarks.neuclir_mlir import NeuclirMlir
from stele.benchmarks.neuclir_mono import NeuclirMono
from stele.benchmarks.types import Passage, Query
from stele.errors import SteleError

NAMES = {"fa": "fas", "ru": "rus", "zh": "zho"}
GAINS = {"fas": "1 0 f1 3\n2 0 f2 0\n", "rus": "2 0 r1 1\n", "zho": "1 0 z1 3\n", "mlir": "1 0 f1 3\n1 0 z1 1\n"}


@pytest.fixture
def data(tmp_path):
    for name in ("eng", *NAMES.values()):
        put(tmp_path / f"bench/news.{name}.tsv", f'1\tone "in"  {name}\n2\ttwo in {name}\n9\tnot judged\n')
    for name, text in GAINS.items():
        put(tmp_path / f"bench/qrels.{name}.gains.txt", text)
    for code, name in NAMES.items():
        of_language = [
            {"id": f"{code[0]}{n}", "title": None, "text": f"{name} {n}", "time": "", "url": ""} for n in (1, 2)
        ]
        put(tmp_path / code / f"{name}-00000-of-00001.jsonl.gz", rows(*of_language))
    return {"neuclir": {"all": tmp_path / "bench"}, "neuclir_corpus": {code: tmp_path / code for code in NAMES}}


def asked(benchmark, data, languages):
    return {s.name: list(benchmark.queries(data, s)) for s in benchmark.query_sets(languages)}


def test_each_benchmark_asks_its_judged_queries_in_its_language(data):
    assert asked(NeuclirMono(), data, ["fa", "ru"]) == {
        "fa": [Query("1", 'one "in" fas'), Query("2", "two in fas")],
        "ru": [Query("2", "two in rus")],
    }
    assert asked(NeuclirClir(), data, ["ru", "zh"]) == {
        "ru": [Query("2", "two in eng")],
        "zh": [Query("1", 'one "in" eng')],
    }
    assert asked(NeuclirMlir(), data, ["en"]) == {"en": [Query("1", 'one "in" eng')]}


def test_the_multilingual_collection_is_the_three_others_together(data):
    apart = [passage for code in NAMES for passage in NeuclirMono().passages(data, code)]
    assert list(NeuclirMlir().passages(data, "all")) == apart
    assert apart[0] == Passage("f1", "", "fas 1") and len(apart) == 6
    assert list(NeuclirClir().passages(data, "zh")) == apart[4:]


def test_a_judged_document_that_is_not_there_is_counted_and_stays_judged(data, tmp_path, caplog):
    put(tmp_path / "bench/qrels.mlir.gains.txt", "1 0 f1 3\n1 0 gone 3\n1 0 lost 0\n")
    assert len(list(NeuclirMlir().passages(data, "all"))) == 6
    assert "2 judged documents are not in the collection (gone, lost)" in caplog.text
    for benchmark, name, judged in (
        (NeuclirMlir(), "en", {"1": {"f1": 3, "gone": 3, "lost": 0}}),
        (NeuclirMono(), "fa", {"1": {"f1": 3}, "2": {"f2": 0}}),
    ):
        assert benchmark.judgments(data, benchmark.query_sets([name])[0]) == judged


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("bench/qrels.fas.gains.txt", "1 0 f1 3.0\n", r"qrels\.fas\.gains\.txt, line 1: want .* found '1 0 f1 3\.0'"),
        (
            "bench/qrels.fas.gains.txt",
            "1 0 f1 3\n77 0 f1 1\n",
            r"news\.fas\.tsv: 1 judged queries are not .* \(77\)",
        ),
        ("bench/news.fas.tsv", "1 one\n", r"news\.fas\.tsv, line 1: want id, tab, text; found '1 one'"),
        ("fa/fas-00000-of-00001.jsonl.gz", '{"id": "f1"}\n', r"line 1: no field 'text'; found id"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(data, tmp_path, file, text, message):
    put(tmp_path / file, text)
    with pytest.raises(SteleError, match=message):
        asked(NeuclirMono(), data, ["fa"])
        list(NeuclirMono().passages(data, "fa"))


def test_a_language_that_is_lacking_is_no_smaller_pool(data):
    del data["neuclir_corpus"]["ru"]
    with pytest.raises(SteleError, match="needs the data neuclir_corpus:ru"):
        list(NeuclirMlir().passages(data, "all"))
