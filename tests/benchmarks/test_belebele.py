"""Belebele: MTEB's 376 searches, its rules for passages and questions, and which variant is read for what."""

import json

import pyarrow
import pyarrow.parquet
import pytest

from stele import catalogue
from stele.benchmarks._files import name_in_files
from stele.benchmarks.belebele import Belebele
from stele.benchmarks.types import Query, QuerySet
from stele.catalogue.datasets import dataset, languages_of
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.languages import Language
from stele.errors import SteleError

LATIN = {"arb_Arab", "ben_Beng", "hin_Deva", "npi_Deva", "sin_Sinh", "urd_Arab"}


def rows(*items):
    return "".join(
        json.dumps({"link": link, "flores_passage": passage, "question": question, "mc_answer1": "x"}) + "\n"
        for link, passage, question in items
    )


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data").mkdir()
    english = rows(("b", "Of b", "why?"), ("a", "Of a", "who?"), ("b", "Of b again", "when?"), ("a", "Of a", "why?"))
    russian = rows(("a", "Об а", "кто?"), ("b", "О б", "почему?"), ("b", "О б", "когда?"), ("a", "Об а", "отчего?"))
    (tmp_path / "data/eng_Latn.jsonl").write_text(english)
    (tmp_path / "data/rus_Cyrl.jsonl").write_text(russian)
    return {"belebele": {"all": tmp_path}}


def test_the_pairs_are_mteb_s_by_its_own_rule():
    variants = catalogue.load("datasets")["belebele"]["codes"]
    pairs = {(x, x) for x in variants} | {(x, "eng_Latn") for x in variants} | {("eng_Latn", x) for x in variants}
    for base in LATIN:
        latin = f"{base[:3]}_Latn"
        pairs |= {(base, latin), (latin, base)}
    languages = catalogue.entries(Benchmark)["belebele"].languages
    named = [tuple(name_in_files(part, "belebele") for part in pair.split("-")) for pair in languages]
    assert len(named) == len(pairs) == 376 and set(named) == pairs and len(variants) == 122


def test_every_variant_that_is_a_language_s_own_is_in_its_script():
    codes = {"Latn": "Latin", "Cyrl": "Cyrillic", "Arab": "Arabic", "Deva": "Devanagari", "Jpan": "Japanese"}
    for code in languages_of(dataset("belebele")):
        entry = catalogue.entries(Language).get(code)
        if entry and (script := codes.get(name_in_files(code, "belebele")[4:])):
            assert entry.script == script, code
    assert name_in_files("sq", "belebele") == "als_Latn"  # Tosk Albanian, and not Alemannic, which is als here


def test_passages_are_of_the_first_half_of_a_pair_and_questions_of_the_second(data):
    (pair,) = Belebele().query_sets(["ru-en"])
    assert pair == QuerySet("ru-en", "ru-en", "ru") and Belebele().asked_in(pair) == "en"
    assert [query for query in Belebele().queries(data, pair)] == [
        Query("Q0", "why?"), Query("Q1", "who?"), Query("Q2", "when?")
    ]  # fmt: skip
    assert [(p.id, p.text) for p in Belebele().passages(data, "ru")] == [("C0", "Об а"), ("C1", "О б")]
    assert [p.text for p in Belebele().passages(data, "en")] == ["Of b", "Of a"]  # one a link, the first
    # a question of one text about two passages has both for answers
    assert Belebele().judgments(data, pair) == {"Q0": {"C1": 1, "C0": 1}, "Q1": {"C0": 1}, "Q2": {"C1": 1}}


def test_a_question_has_the_same_number_in_a_variant_that_asks_two_in_the_same_words(data, tmp_path):
    twice = rows(("b", "Of b", "why?"), ("a", "Of a", "why?"), ("b", "Of b", "when?"), ("a", "Of a", "who?"))
    (tmp_path / "data/swh_Latn.jsonl").write_text(twice)
    (pair,) = Belebele().query_sets(["sw"])
    asked = {query.id: query.text for query in Belebele().queries(data, pair)}
    assert asked == {"Q0": "why?", "Q2": "when?", "Q3": "who?"}
    assert Belebele().judgments(data, pair).keys() == asked.keys()


def test_a_variant_alone_is_a_pair_with_itself(data):
    (pair,) = Belebele().query_sets(["ru"])
    assert pair.name == "ru-ru" and len(Belebele().judgments(data, pair)) == 4


def test_questions_about_another_release_and_other_columns_are_refused(data, tmp_path):
    (pair,) = Belebele().query_sets(["ru-en"])
    (tmp_path / "data/eng_Latn.jsonl").rename(tmp_path / "data/old.jsonl")
    with pytest.raises(SteleError, match=r"no file eng_Latn.jsonl; found old.jsonl, rus_Cyrl.jsonl"):
        Belebele().judgments(data, pair)
    (folder := tmp_path / "new").mkdir()
    (folder / "rus_Cyrl.jsonl").write_text(rows(("a", "Об а", "кто?")))
    (folder / "eng_Latn.jsonl").write_text(rows(("c", "Of c", "what?")))
    with pytest.raises(SteleError, match=r"eng_Latn.jsonl: a question is about c, which is not in .*rus_Cyrl"):
        Belebele().judgments({"belebele": {"all": folder}}, pair)
    (folder / "swh_Latn.jsonl").write_text('{"link": "a", "passage": "b", "question": "c"}\n')
    with pytest.raises(SteleError, match=r"swh_Latn.jsonl, line 1: no field 'flores_passage'; found link, passage"):
        list(Belebele().passages({"belebele": {"all": folder}}, "sw"))


def test_an_export_in_parquet_is_read_as_the_lines_are(data, tmp_path, tmp_path_factory):
    (pair,) = Belebele().query_sets(["ru-en"])

    def everything(given):
        read = (
            Belebele().queries(given, pair),
            Belebele().passages(given, "ru"),
            Belebele().judgments(given, pair).items(),
        )
        return [list(part) for part in read]

    (exported := tmp_path_factory.mktemp("exported") / "data").mkdir()
    for path in (tmp_path / "data").iterdir():  # a user's file gets the catalogue's name, whatever its layout
        table = pyarrow.Table.from_pylist([json.loads(line) for line in path.read_text().splitlines()])
        pyarrow.parquet.write_table(table, exported / path.name)
    assert everything({"belebele": {"all": exported.parent}}) == everything(data)
