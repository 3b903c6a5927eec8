"""Test collections as a whole: their documents, topics and judgments together, and which files are which."""

import json
import logging

import pytest
from written import SPANISH, put

from stele.benchmarks import collection
from stele.benchmarks.collection import AdHocCollection
from stele.benchmarks.types import Passage, Query, QuerySet
from stele.errors import SteleError

ES = QuerySet("es", "es", "es")


@pytest.fixture
def folder(tmp_path):
    """Three documents of which one appears three times, and another year's; topics in Spanish; one more is judged."""
    put(tmp_path / "ism_001", "".join(f"<DOC><DOCNO>{n}</DOCNO><TEXT>old {n}</TEXT></DOC>" for n in (1, 2, 2)))
    put(tmp_path / "ism_002.gz", "<DOC><DOCNO>2</DOCNO><TEXT>new 2</TEXT></DOC><DOC id=3><TEXT></TEXT></DOC>")
    put(tmp_path / "af940512", "<DOC id=4><TEXT>of another track</TEXT></DOC>")
    put(tmp_path / "readme.txt", "words")
    put(tmp_path / "record.json", "{}")
    put(tmp_path / "topics.SP1-SP25.spanish.english.gz", SPANISH.encode("iso-8859-1"))
    put(tmp_path / "qrels.1-25.spanish.gz", "1 0 1 1\n1 0 9 0\n30 0 1 1\n")
    return tmp_path


@pytest.fixture
def data(folder):
    return {"trec3_es": {"all": folder}}


def test_of_an_id_that_comes_twice_the_last_document_stands(data, caplog):
    with caplog.at_level(logging.WARNING):
        read = list(AdHocCollection().passages(data, "es"))
    assert read == [Passage("1", "", "old 1"), Passage("2", "", "new 2"), Passage("3", "", "")]
    assert "document ids that occur more than once: 1 (as 2); the last document of each is read" in caplog.text
    assert collection.document_ids(data, "es") == (3, {"2": 2})


def test_judged_documents_that_are_not_there_are_counted(data, folder, caplog):
    """Ids in judgments that lost their leading zeros lower the scores, so the log counts the missing documents."""
    put(folder / "qrels.1-25.spanish.gz", "1 0 1 1\n1 0 02 1\n1 0 03 0\n")
    list(AdHocCollection().passages(data, "es"))
    assert "es: 2 judged documents are not in the collection (02, 03)" in caplog.text


def test_topics_go_by_the_ids_of_the_judgments_and_judgments_are_theirs(data, folder, caplog):
    assert list(AdHocCollection().queries(data, ES)) == [Query("1", "Oposición al TLC")]
    assert list(AdHocCollection().queries(data, ES, "narrative")) == [Query("1", "más")]
    caplog.clear()
    assert AdHocCollection().judgments(data, ES) == {"1": {"1": 1, "9": 0}}  # 9: a document that is not there
    assert "english.gz: lacks 1 of 2 judged topics, which do not count" in caplog.text
    put(folder / "qrels.1-25.spanish.gz", "SP1 0 1 1\n")
    assert list(AdHocCollection().queries(data, ES)) == [Query("SP1", "Oposición al TLC")]


def test_judgments_alone_are_all_judged(folder):
    alone = folder / "qrels.1-25.spanish.gz"
    assert AdHocCollection().judgments({"trec3_es_topics": {"all": alone}}, ES).keys() == {"1", "30"}
    other = put(folder / "by/any.name", "7 0 D 1\n")
    assert AdHocCollection().judgments({"trec3_es": {"es": other}}, ES) == {"7": {"D": 1}}


def test_topics_and_judgments_fetched_by_themselves_go_before_a_users_own(data, folder, tmp_path):
    put(tmp_path / "nist/topics.txt", "<top><num> Number: SP2<title> dos\n</top>")
    put(tmp_path / "nist/qrels.txt", "2 0 1 1\n")
    both = {**data, "trec3_es_topics": {"all": tmp_path / "nist"}}
    assert list(AdHocCollection().queries(both, ES)) == [Query("2", "dos")]
    assert AdHocCollection().judgments(both, ES) == {"2": {"1": 1}}


@pytest.mark.parametrize(
    "name",
    [
        *("qrels.ntcir8.eval.txt", "qrels.trec02ar.txt", "qrels.clef06fr.txt", "qrels.fire12bn.176-225.txt"),
        *(
            "qrels.trec11.xlingual.txt",
            "qrels.1-25.spanish.gz",
            "sp26.qrels.txt",
            "xlingual_t10qrels.txt",
            "cranqrel.txt",
        ),
    ],
)
def test_judgments_are_found_by_the_names_that_they_have(tmp_path, name):
    put(tmp_path / "topics.trec02ar-ar.txt", "1\tx\n")
    put(tmp_path / "docs.txt", "d\tx\n")
    assert collection.qrels_file(tmp_path / put(tmp_path / name, "1 0 d 1\n").parent) == tmp_path / name


def test_files_that_are_missing_or_there_twice(data, folder):
    put(folder / "more/qrels.txt", "1 0 1 1\n")
    with pytest.raises(SteleError, match=r"want one file of judgments, .*; found qrels\..*, qrels\..*\. Keep one"):
        AdHocCollection().judgments(data, ES)
    (folder / "topics.SP1-SP25.spanish.english.gz").unlink()
    with pytest.raises(SteleError, match=r"want one file of topics, named \*topics\*; found none"):
        list(AdHocCollection().queries(data, ES))


def test_hidden_files_and_links_in_a_circle_are_none_of_a_collection(data, folder):
    """The hub's client leaves notes of these names; an archive made on a Mac has hidden ones."""
    put(folder / ".cache/huggingface/download/qrels.1-25.spanish.gz.metadata", "a note")
    put(folder / "._topics.spanish", "\0")
    (folder / "again").symlink_to(folder)
    assert AdHocCollection().judgments(data, ES) == {"1": {"1": 1, "9": 0}}


def test_judgments_of_another_collection_are_refused(data, folder):
    put(folder / "qrels.1-25.spanish.gz", "CH28 0 d 1\n401 0 d 1\n")
    with pytest.raises(SteleError, match=r"none of its topics \(SP1, \.\.\.\) is judged in .*\(CH28, \.\.\.\)"):
        list(AdHocCollection().queries(data, ES))


def test_a_topic_without_the_field_and_an_empty_collection(tmp_path):
    put(tmp_path / "topics.txt", "<top><num>1</num><desc>only this</desc></top>")
    put(tmp_path / "qrels.txt", "1 0 d 1\n")
    data = {"mine": {"all": tmp_path}}
    with pytest.raises(SteleError, match=r"topic 1 has no title; it has description\. Choose another `field`"):
        list(AdHocCollection().queries(data, ES))
    for _ in range(2):
        with pytest.raises(SteleError, match="no document in it; it should hold the collection's files"):
            list(AdHocCollection().passages(data, "es"))
        put(tmp_path / "empty.sgml", "")


def test_documents_whose_text_is_in_other_tags_are_not_all_empty_ones(tmp_path):
    """They would be encoded, and each query find the same ones."""
    put(tmp_path / "news", "".join(f"<DOC><DOCNO>{n}</DOCNO><BODY>words</BODY></DOC>" for n in (1, 2)))
    with pytest.raises(SteleError, match=r"none of 2 documents has text .*name the tags"):
        list(AdHocCollection().passages({"mine": {"all": tmp_path}}, "es"))


def test_a_file_of_json_in_place_of_the_publishers_files(tmp_path):
    """Patterns choose among the publisher's files; where none of those is there, all others hold documents."""
    put(tmp_path / "collection.jsonl", json.dumps({"id": "a", "contents": "x"}))
    assert list(AdHocCollection().passages({"trec3_es": {"all": tmp_path}}, "es")) == [Passage("a", "", "x")]


def test_the_title_of_a_document_is_in_its_text(tmp_path):
    """The encodings of test collections say `passage_format: text`, so that the titles of JSON were not encoded."""
    put(tmp_path / "news.jsonl", json.dumps({"id": "a", "title": "Uno", "text": "dos"}))
    assert list(AdHocCollection().passages({"mine": {"all": tmp_path}}, "es")) == [Passage("a", "", "Uno\n\ndos")]
