"""mMARCO's files: judged queries with their passages, in MS MARCO's ids; what is damaged, missing or of other ids."""

import pytest
from written import put

from stele.benchmarks.mmarco import Mmarco
from stele.benchmarks.types import Passage
from stele.errors import SteleError

QUERIES = '7\tqui a écrit "ça" ?\n8\tcomment ?\n9\tpas jugé\n'
PASSAGES = '0\tautre\n1\tElle a écrit "ça".\n2\tAinsi.\n3\tOu "ainsi.\n'
QRELS = "8\t0\t3\t1\n7\t0\t1\t1\n8\t0\t2\t1\n8\t0\t0\t0\n"


@pytest.fixture
def data(tmp_path):
    put(tmp_path / "fr/french_queries.train.tsv", QUERIES)
    put(tmp_path / "fr/french_collection.tsv", PASSAGES)
    put(tmp_path / "qrels/qrels.train.tsv", QRELS)
    return {"mmarco": {"fr": tmp_path / "fr"}, "msmarco_qrels": {"all": tmp_path / "qrels"}}


def test_judged_queries_come_with_their_relevant_passages(data):
    eight, seven = Mmarco().training(data, "train")
    assert (eight.query, seven.query) == ("comment ?", 'qui a écrit "ça" ?')
    assert eight.positives == [Passage("3", "", 'Ou "ainsi.'), Passage("2", "", "Ainsi.")], "quotes are text"
    assert seven.positives == [Passage("1", "", 'Elle a écrit "ça".')]
    assert seven.negatives == [] and seven.language == "fr"


def test_each_language_has_the_same_queries(data, tmp_path):
    put(tmp_path / "es/spanish_queries.train.tsv", "8\t¿cómo?\n")
    put(tmp_path / "es/spanish_collection.tsv", "3\tAsí.\n1\tElla.\n")
    data["mmarco"]["es"] = tmp_path / "es"
    assert [(e.language, e.query) for e in Mmarco().training(data, "train")][2:] == [("es", "¿cómo?")]


def test_what_is_judged_and_not_there_is_counted(data, tmp_path, caplog):
    put(tmp_path / "fr/french_collection.tsv", "1\tElle.\n2\tAinsi.\n")
    put(tmp_path / "fr/french_queries.train.tsv", "8\tcomment ?\n")
    (example,) = Mmarco().training(data, "train")
    assert [passage.id for passage in example.positives] == ["2"]
    assert "lacks 2 judged queries and passages" in caplog.text


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("french_collection.tsv", "1 Elle\n", r"collection\.tsv, line 1: want id<tab>text, found '1 Elle'"),
        ("french_collection.tsv", "1\tElle\n1\tLui\n", r"line 2: id '1' appears twice"),
        ("french_collection.tsv", "11\tElle\n", r"no id in it is judged"),
        ("french_queries.train.tsv", "", r"no id in it is judged"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(data, tmp_path, file, text, message):
    put(tmp_path / "fr" / file, text)
    with pytest.raises(SteleError, match=message):
        list(Mmarco().training(data, "train"))


def test_there_is_no_other_split(data):
    with pytest.raises(SteleError, match="no split 'dev'"):
        list(Mmarco().training(data, "dev"))
