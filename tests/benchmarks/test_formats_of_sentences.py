"""LAReQA, Tatoeba, SQuAD and training sets of one's own: native files become query sets, passages and examples."""

import json

import pytest
from written import put, rows

from stele import catalogue
from stele.benchmarks.jsonl import JsonLines
from stele.benchmarks.lareqa import Lareqa
from stele.benchmarks.squad import Squad
from stele.benchmarks.tatoeba import Tatoeba
from stele.benchmarks.types import Query, QuerySet
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import SteleError


# --- LAReQA ---
def paragraph(context: str, breaks: list, *questions: tuple[str, int]) -> dict:
    qas = [{"id": key, "question": f"{key}?", "answers": [{"text": "x", "answer_start": at}]} for key, at in questions]
    return {"context": context, "sentence_breaks": breaks, "qas": qas}


def xquad(*paragraphs: dict) -> str:
    return json.dumps({"data": [{"paragraphs": list(paragraphs)}]})


@pytest.fixture
def xquad_r(tmp_path):
    twice = paragraph("Same.\nSame. Other.", [[0, 5], [6, 11], [12, 18]], ("a", 7), ("b", 12))
    between = paragraph("One. Two.", [[0, 4], [5, 9]], ("c", 4))  # the answer starts between two sentences
    put(tmp_path / "xquad-r/en.json", xquad(between, twice))
    put(tmp_path / "xquad-r/th.json", xquad(paragraph("หนึ่ง สอง", [[0, 5], [6, 9]], ("a", 8), ("b", 0))))
    return {"lareqa": {"en": tmp_path, "th": tmp_path}}


def test_lareqa_follows_the_official_loader(xquad_r):
    english, thai = Lareqa().query_sets(["en", "th"])
    assert list(Lareqa().queries(xquad_r, english)) == [Query("a_en", "a?"), Query("b_en", "b?")]  # c is left out
    # the paragraph of c has no question left, so none of its sentences is a candidate; but it keeps its number
    assert [p.id for p in Lareqa().passages(xquad_r, "all")] == ["en_2_0", "en_2_1", "en_2_2", "th_1_0", "th_1_1"]
    assert next(Lareqa().passages(xquad_r, "all")).text == "Same.Same.Same. Other."
    # both sentences that read like the answer count, and the answers of every language, one's own included
    assert Lareqa().judgments(xquad_r, english)["a_en"] == {"en_2_0": 1, "en_2_1": 1, "th_1_1": 1}
    assert Lareqa().judgments(xquad_r, thai) == {
        "a_th": {"en_2_0": 1, "en_2_1": 1, "th_1_1": 1},
        "b_th": {"en_2_2": 1, "th_1_0": 1},
    }


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (xquad(paragraph("Ab", [[0, 3]], ("a", 0))), "paragraph 1: sentence_breaks must be"),
        (xquad(paragraph("Ab", [[0, 2]], ("a", 0), ("a", 0))), "paragraph 1: question id 'a' appears twice"),
        ('{"data": [\n{"paragraphs": oops', r"not a readable file: not JSON \(Expecting value, line 2"),
    ],
)
def test_lareqa_says_what_is_wrong(xquad_r, tmp_path, changed, message):
    put(tmp_path / "xquad-r/en.json", changed)
    with pytest.raises(SteleError, match=r"en\.json(, |: )" + message):
        list(Lareqa().queries(xquad_r, QuerySet("en", "en", "all")))


def test_lareqa_counts_on_the_real_files(real_data):
    data = {"lareqa": {"all": real_data / "lareqa_xquad_r"}}
    assert sum(1 for _ in Lareqa().passages(data, "all")) == 13_014
    questions = 0
    for query_set in Lareqa().query_sets(catalogue.entry(Benchmark, "lareqa").languages):
        judged = Lareqa().judgments(data, query_set)
        assert {len(right) for right in judged.values()} == {11}
        questions += len(judged)
    assert questions == 13_090


# --- Tatoeba ---
def test_tatoeba_is_searched_in_both_directions(tmp_path):
    put(tmp_path / "tatoeba.fra-eng.fra", "un\ndeux\u2028zwei\ntrois\n")  # only a line feed ends a line
    put(tmp_path / "tatoeba.fra-eng.eng", "one\ntwo\nthree")
    data = {"tatoeba": {"all": tmp_path}}
    to_english, from_english = Tatoeba().query_sets(["en", "fr"])
    assert (to_english.name, to_english.collection) == ("fr-en", "en-of-fr")
    assert (from_english.name, from_english.collection) == ("en-fr", "fr")
    assert [q.text for q in Tatoeba().queries(data, to_english)] == ["un", "deux\u2028zwei", "trois"]
    assert [q.text for q in Tatoeba().queries(data, from_english)] == ["one", "two", "three"]
    actual = list(Tatoeba().passages(data, to_english.collection))
    assert [p.text for p in actual] == ["one", "two", "three"]
    assert [p.id for p in actual] == sorted(
        (p.id for p in actual), reverse=True
    )  # among equals the first line is first
    right = Tatoeba().judgments(data, to_english)
    assert right == {"0000": {actual[0].id: 1}, "0001": {actual[1].id: 1}, "0002": {actual[2].id: 1}}


def test_tatoeba_sides_must_be_as_long(tmp_path):
    put(tmp_path / "tatoeba.fra-eng.fra", "un\ndeux\n")
    put(tmp_path / "tatoeba.fra-eng.eng", "one\n")
    with pytest.raises(SteleError, match=r"has 2 lines, but tatoeba\.fra-eng\.eng has 1"):
        list(Tatoeba().passages({"tatoeba": {"all": tmp_path}}, "fr"))


def test_one_file_of_tatoeba_is_not_both_sides_of_a_pair(tmp_path):
    """Each sentence would be found by itself, and all scores be 100."""
    path = put(tmp_path / "tatoeba.fra-eng.fra", "un\ndeux\n")
    with pytest.raises(SteleError, match="a pair's one side; want the folder"):
        list(Tatoeba().passages({"tatoeba": {"fr": path}}, "fr"))


# --- training sets ---
def test_squad_positive_is_the_answer_sentence_in_its_paragraph(tmp_path):
    context = 'Dr. A. Smith was born in 1901. He died in Rome.[3] "Why?" asked U.S. papers. The end'
    qas = [
        {"id": "1", "question": "where?", "answers": [{"text": "Rome", "answer_start": context.index("Rome")}]},
        {"id": "2", "question": "who?", "answers": [{"text": "Smith", "answer_start": context.index("Smith")}]},
        {"id": "3", "question": "gap?", "answers": [{"text": " ", "answer_start": context.index(" He")}]},
    ]
    put(tmp_path / "train-v1.1.json", json.dumps({"data": [{"paragraphs": [{"context": context, "qas": qas}]}]}))
    examples = list(Squad().training({"squad": {"all": tmp_path}}, "train"))
    assert [example.query for example in examples] == ["where?", "who?"]
    titles = [example.positives[0].title for example in examples]
    assert titles == ["He died in Rome.[3]", "Dr. A. Smith was born in 1901."]
    assert {example.positives[0].text for example in examples} == {context}
    assert examples[0].positives[0].id != examples[1].positives[0].id


def test_jsonl_of_ones_own(tmp_path):
    line = {"query": "q", "positives": [{"title": "T", "text": "x"}], "language": "sw"}
    line["negatives"] = [{"text": "y", "id": "n1"}]
    put(tmp_path / "train.jsonl", rows(line, {"query": "q2", "positives": [{"text": "x"}]}))
    first, second = JsonLines().training({"mine": {"all": tmp_path}}, "train")
    assert (first.positives[0].title, first.negatives[0].id, first.language) == ("T", "n1", "sw")
    assert (second.negatives, second.language) == ([], "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"query": " ", "positives": [{"text": "x"}]}, "query is empty"),
        ({"query": "q", "positives": []}, "positives is empty"),
        ({"query": "q", "positives": [{"text": ""}]}, "text is empty"),
        ({"query": "q", "positives": ["x"]}, "a passage must be"),
        ({"query": "q", "positive": [{"text": "x"}]}, "unknown field 'positive'; valid: language, neg"),
        ({"query": "q", "positives": [{"text": "x", "body": 1}]}, "unknown field 'body'; valid: id, text, title"),
        ({"query": "q"}, "no field 'positives'"),
    ],
)
def test_jsonl_of_ones_own_is_checked_line_by_line(tmp_path, line, message):
    put(tmp_path / "train.jsonl", rows({"query": "q", "positives": [{"text": "x"}]}, line))
    with pytest.raises(SteleError, match=r"train\.jsonl, line 2: " + message):
        list(JsonLines().training({"mine": {"all": tmp_path}}, "train"))
