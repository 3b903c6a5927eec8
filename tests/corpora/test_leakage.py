"""Planted passages of a benchmark are found in documents, counted by language and shown."""

import json

import pytest

from stele import catalogue
from stele.artifacts.documents import Document, DocumentWriter
from stele.benchmarks.reader import ParallelTextsReader
from stele.benchmarks.types import ParallelTexts
from stele.command import cli
from stele.config.user_sets import user_sets
from stele.corpora.leakage import EXAMPLES, EvaluatedText, evaluated_texts, report
from stele.text.overlap import Overlap
from tests.retrieval.recorded import put
from tests.sealed import write_sealed


def corpus(folder, language, texts):
    folder.mkdir(parents=True)
    with DocumentWriter(folder) as writer:
        for number, sentences in enumerate(texts):
            writer.add(Document(language, f"d{number}", sentences, [0]))
    write_sealed(folder / "record.json", {"language": language, "documents": len(texts)})
    return str(folder / "record.json")


def passage(code, number):
    return " ".join(f"{code}{number}w{place}" for place in range(40))


@pytest.fixture
def add():
    """What a test adds to the catalogue is gone after it."""
    yield catalogue.add
    catalogue.add({})


def test_planted_passages_and_queries_are_counted_and_shown(tmp_path, add, capsys):
    """Of 30 passages in each of two languages five stand in documents as they are, two cut or with a word more."""
    for code in ("de", "fr"):
        rows = [{"_id": f"p{number}", "text": passage(code, number)} for number in range(30)]
        asked = [{"_id": f"q{number}", "text": f"Wo steht {code} {number}?"} for number in range(3)]
        for name, lines in ((f"{code}-corpus", rows), (f"{code}-queries", asked)):
            put(tmp_path / "set" / name / "test.jsonl", lines)
        judged = [{"query-id": f"q{number}", "corpus-id": f"p{number}", "score": 1} for number in range(3)]
        put(tmp_path / "set" / f"{code}-qrels" / "test.jsonl", judged)
    words = passage("fr", 6).split()
    texts = [[f"Davor. {passage('de', number)}", "Danach."] for number in range(5)]
    near = [" ".join(passage("fr", 5).split()[:25]), " ".join([*words[:20], "mot", *words[20:]])]
    documents = [
        corpus(tmp_path / "de", "de", [*texts, ["Wo steht de 1?"], ["Nichts davon."]]),
        corpus(tmp_path / "fr", "fr", [[near[0], "Rien."], ["Rien.", near[1]]]),
    ]
    sets = user_sets([tmp_path / "set"], None)
    add({key.removeprefix("add_"): entries for key, entries in sets.items() if key != "user_data"})
    output = tmp_path / "leakage" / "record.json"
    words = ["--benchmark", "set", "--data", f"set={tmp_path / 'set'}", "--output", str(output)]
    assert cli.main(["corpora", "leakage", "--documents", *documents, *words]) == 0
    record = json.loads(output.read_text())
    passages, queries = record["counts"]["passages"], record["counts"]["queries"]
    assert passages["groups"] == {
        "de": {"texts": 30, "exact": 5, "near": 0},
        "fr": {"texts": 30, "exact": 0, "near": 2},
    }
    assert (passages["texts"], passages["exact"], passages["near"]) == (60, 5, 2)
    assert queries["groups"]["de"] == {"texts": 3, "exact": 1, "near": 0} and queries["exact"] == 1
    shown = {(one["group"], one["id"], one["document"], one["match"]) for one in record["examples"]["passages"]}
    assert {("de", "p0", "de/d0", "exact"), ("fr", "p5", "fr/d0", "near"), ("fr", "p6", "fr/d1", "near")} <= shown
    assert len(record["examples"]["passages"]) == 7 <= EXAMPLES
    assert "set: 7 of 60 passages occur in the 9 documents (5 verbatim, 2 nearly)" in capsys.readouterr().err


def test_a_record_of_other_than_documents_is_named(tmp_path, add, capsys):
    put(tmp_path / "set" / "corpus.jsonl", [{"_id": "p0", "text": passage("de", 0)}])
    put(tmp_path / "set" / "queries.jsonl", [{"_id": "q0", "text": "Wo steht de 0?"}])
    put(tmp_path / "set" / "qrels" / "test.jsonl", [{"query-id": "q0", "corpus-id": "p0", "score": 1}])
    sets = user_sets([tmp_path / "set"], None)
    add({key.removeprefix("add_"): entries for key, entries in sets.items() if key != "user_data"})
    (tmp_path / "data").mkdir()
    write_sealed(wrong := tmp_path / "data" / "record.json", {"dataset": "documents", "part": "de"})
    words = ["--benchmark", "set", "--data", f"set={tmp_path / 'set'}", "--output", str(tmp_path / "out/record.json")]
    assert cli.main(["corpora", "leakage", "--documents", str(wrong), *words]) != 0
    assert f"{tmp_path / 'data'}: no documents here" in capsys.readouterr().err


def test_of_each_kind_of_match_so_many_examples_are_shown():
    texts = [EvaluatedText("passages", "de", str(number), "text") for number in range(2 * EXAMPLES + 1)]
    overlaps = {number: Overlap("de/d0", 0.5, number <= EXAMPLES) for number in range(len(texts))}
    counts, examples = report(iter(texts), overlaps)
    assert (counts["passages"]["exact"], counts["passages"]["near"]) == (EXAMPLES + 1, EXAMPLES)
    assert [shown["match"] for shown in examples["passages"]] == ["exact"] * EXAMPLES + ["near"] * EXAMPLES


def test_texts_of_a_benchmark_of_pairs_are_read_language_by_language(tmp_path):
    """`stele adapt` names the pairs that are evaluated; the texts stand in columns of languages."""

    class Pairs(ParallelTextsReader):
        def parallel_texts(self, data, languages):
            assert [*languages] == ["de", "en"]
            return ParallelTexts(["1"], {code: [f"{code} text"] for code in ("de", "en")}, {})

    texts = [text.text for text in evaluated_texts(Pairs(), {}, ["de-en", "en-de"])]
    assert texts == ["de text", "en text"]
