"""MS MARCO in translation: the ids of the English files, their meaning, and each language's own words."""

import pytest

from stele.benchmarks.jsonl import JsonLines
from stele.benchmarks.mmarco import Mmarco
from stele_world.site import path_of
from stele_world.writers import marco as writer
from stele_world.writers.marco import answered


@pytest.fixture(scope="module")
def written_world(written):
    sizes = {"entities": 60, "questions": {"marco": {"train": 40, "dev": 0, "test": 0}}}
    return written(sizes, ["en", "fr", "bn", "sw"], writer.write_mmarco)


@pytest.fixture(scope="module")
def examples(site):
    folder = path_of(site.mirror, writer.MMARCO)
    qrels = path_of(site.mirror, writer.QRELS).parent
    return list(Mmarco().training({"mmarco": {"fr": folder}, "msmarco_qrels": {"all": qrels}}, "train"))


def test_they_are_read_as_the_real_files(library, examples):
    asked = answered(library)
    assert len(examples) == len(asked) > 20
    for example, (question, passages) in zip(examples, asked, strict=True):
        assert [passage.id for passage in example.positives] == [str(number) for number in passages]
        assert example.query != question.text and example.query[-1:] != "?"


def test_a_translated_passage_answers_its_question(library, examples):
    """The value of the fact stands in the passage: a number as it is, an entity by its name in French."""
    world = library.world
    for example, (question, _) in zip(examples, answered(library), strict=True):
        fact = question.fact
        if fact.kind != "noun":
            value = world.entities[fact.value].names["fr"] if fact.kind == "entity" else fact.value
            assert value in example.positives[0].text
        assert world.entities[fact.subject].names["fr"] in example.query


def test_a_language_without_mmarco_is_the_users(site):
    assert not any("swahili" in url or "bengali" in url for url in site.files)
    pairs = list(JsonLines().training({"translated_marco": {"all": site.user_data / "translated_marco"}}, "train"))
    assert len(pairs) > 20 and all(pair.query and pair.positives[0].text for pair in pairs)
