"""The six newswire collections, written and read back by the readers of real ones: layouts, traps, judgments."""

import gzip
import re

import pytest

from stele.benchmarks import collection
from stele.benchmarks.collection import AdHocCollection
from stele.benchmarks.types import QuerySet
from stele_world.site import path_of
from stele_world.writers import collections
from stele_world.writers.collections import TOPICS, UNASKED, layouts

NEWS = 60
NIST = "https://trec.nist.gov/data"
DATASETS = {layout.language: dataset for dataset, layout in layouts().collections.items()}
FREE = {
    "ar": ("topics_noneng/CL.topics.arabic.trec11.txt", "qrels_noneng/qrels.trec11.xlingual.txt"),
    "es": ("topics_noneng/topics.SP1-SP25.spanish.english.gz", "qrels_noneng/qrels.1-25.spanish.gz"),
}


@pytest.fixture(scope="module")
def written_world(written):
    return written({"entities": 80, "newswire": NEWS}, ["en", *DATASETS], collections.write_collections)


@pytest.fixture
def data(site, tmp_path):
    def of(language):
        dataset = DATASETS[language]
        own = {dataset: {"all": site.user_data / dataset}}
        for name in FREE.get(language, ()):
            path = path_of(site.mirror, f"{NIST}/{name}")
            (tmp_path / language).mkdir(exist_ok=True)
            (tmp_path / language / path.name).write_bytes(path.read_bytes())
            own[f"{dataset}_topics"] = {"all": tmp_path / language}
        return own

    return of


def documents(given, language):
    """id -> text, in the order of the world's documents."""
    return {passage.id: passage.text for passage in AdHocCollection().passages(given, language)}


@pytest.mark.parametrize("language", DATASETS)
def test_a_collection_is_read_as_a_real_one(site, library, data, language):
    dataset, given = DATASETS[language], data(language)
    query_set = QuerySet(language, language, language)
    queries, texts = list(AdHocCollection().queries(given, query_set)), documents(given, language)
    judged = AdHocCollection().judgments(given, query_set)
    counts = site.counts[dataset]
    assert (len(queries), len(texts)) == (counts["topics"], counts["documents"])
    assert len(texts) == NEWS + 1
    assert 10 < len(queries) <= TOPICS and judged.keys() == {query.id for query in queries}
    number, repeated = collection.document_ids(given, language)
    assert (number, repeated.total()) == (NEWS + 1, 1)  # one id comes twice
    assert [text for text in texts.values() if not text] == [""]  # one document has no words
    between = library.between(language)
    told = [
        [between.join(s.text for s in paragraph) for paragraph in paragraphs]
        for paragraphs in library.world.newswire(language)
    ]
    for paragraphs, text in zip(told, list(texts.values()), strict=False):
        assert all(paragraph in text for paragraph in paragraphs)  # entities, encodings: nothing is lost
    assert any(name not in texts for of_topic in judged.values() for name in of_topic)


@pytest.mark.parametrize("language", DATASETS)
def test_relevant_documents_tell_what_a_topic_asks(library, data, language):
    given, query_set = data(language), QuerySet(language, language, language)
    judged = AdHocCollection().judgments(given, query_set)
    names = list(documents(given, language))
    facts = [{s.fact for paragraph in document for s in paragraph} for document in library.world.newswire(language)]
    test = {id_ for id_, entity in library.world.entities.items() if entity.split == "test"}
    for of_topic in judged.values():
        relevant = {names.index(name) for name, value in of_topic.items() if value}
        shared = set.intersection(*(facts[place] for place in relevant))
        assert any(
            fact and fact.subject in test and {p for p, own in enumerate(facts) if fact in own} == relevant
            for fact in shared
        )
        assert any(value == 0 for value in of_topic.values())


def test_queries_are_questions_in_ntcir_and_keywords_elsewhere(library, data):
    for language in DATASETS:
        queries = [
            query.text for query in AdHocCollection().queries(data(language), QuerySet(language, language, language))
        ]
        questions = sum(bool(re.search(r"[?？؟]$", text)) for text in queries)
        assert questions == (len(queries) if language == "zh" else 0)


def test_more_is_judged_than_topics_ask(site):
    judged = gzip.decompress(path_of(site.mirror, f"{NIST}/{FREE['es'][1]}").read_bytes()).decode()
    topics = gzip.decompress(path_of(site.mirror, f"{NIST}/{FREE['es'][0]}").read_bytes()).decode("iso-8859-1")
    numbers = {line.split()[0] for line in judged.splitlines()}
    asked = set(re.findall(r"Number: SP(\d+)", topics))
    assert asked < numbers and len(numbers - asked) <= UNASKED
    assert len(re.findall(r"^\*\* In English", topics, re.MULTILINE)) == 3 * len(asked)


def test_documents_of_other_years_lie_beside_the_collections(site):
    beside = {"ntcir8_zh": "xin_cmn_200601.gz", "trec3_es": "af940512"}
    assert all((site.user_data / dataset / name).is_file() for dataset, name in beside.items())
