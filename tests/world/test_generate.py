"""The generated world: what is asked, told and linked holds together, and is the same bytes everywhere."""

import json
import os
import re
import subprocess
import sys
from collections import Counter

import pytest

from stele import catalogue
from stele.catalogue.scales import whole_scale
from stele.errors import SteleError
from stele.recipes.world import WorldSizes, world_sizes
from stele_world.content import facts
from stele_world.content.concepts import inventory
from stele_world.content.facts import entities
from stele_world.content.generate import World, generate
from stele_world.language.lexicon import Lexicon, language

LANGUAGES = ("en", "es", "ru", "uk", "ar", "te", "th", "ja")
SMALL = {
    "entities": 90,
    "nouns": 20,
    "web_documents": 12,
    "questions": {
        "nq": {"train": 300, "dev": 30, "test": 60},
        "marco": {"train": 300, "dev": 30},
        "squad": {"train": 100, "dev": 20},
        "lareqa": {"test": 30},
        "mrtydi": {"train": 60, "dev": 20, "test": 40},
        "xor": {"train": 60, "dev": 20, "test": 20},
    },
    "mentions": {"train": 80, "dev": 15, "test": 30},
    "parallel": {"tatoeba": 60, "training": 100},
}
GENERATED_SCALES = {
    name: (scale["world"], scale["languages"])
    for name in catalogue.scale_names()
    if (scale := whole_scale(catalogue.load(f"scales/{name}"), name)).get("generated")
}


@pytest.fixture(scope="module")
def world() -> World:
    return generate(world_sizes(SMALL), LANGUAGES, 3)


def everything_asked(world: World, split: str) -> list:
    purposes = [("nq", "en"), ("marco", "en"), ("squad", "en")]
    purposes += [(purpose, code) for purpose in ("mrtydi", "xor", "lareqa") for code in world.languages]
    return [q for purpose, code in purposes for q in world.questions(purpose, code, split)]


def test_two_processes_with_other_hash_seeds_write_the_same_mirror(tmp_path):
    contents = set()
    for hash_seed in ("1", "2"):
        output = tmp_path / hash_seed / "manifest.json"
        flags = ["--world", '{"entities": 40, "web_documents": 4}', "--languages", "en", "fi", "ar", "ja", "ko", "hi"]
        flags += ["--seed", "7", "--user-data", str(tmp_path / "own" / hash_seed), "--output", str(output)]
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": "C"}
        command = [sys.executable, "-m", "stele_world", "mirror", *flags]
        subprocess.run(command, env=environment, capture_output=True, check=True)
        contents.add(json.loads(output.read_text())["content"])
    assert len(contents) == 1


def test_a_language_does_not_depend_on_the_others(world):
    alone = generate(world_sizes(SMALL), ["th"], 3)
    assert alone.languages == ("en", "th")
    assert alone.articles("th") == world.articles("th")
    assert list(alone.web_documents("th")) == list(world.web_documents("th"))
    assert alone.questions("xor", "th", "dev") == world.questions("xor", "th", "dev")


def test_no_question_is_in_two_splits(world):
    splits = [{(q.language, q.text) for q in everything_asked(world, split)} for split in ("train", "dev", "test")]
    assert all(splits) and len(set.union(*splits)) == sum(map(len, splits))


def test_pretraining_text_knows_what_is_tested(world):
    text = "".join(s for d in world.web_documents("en") for p in d for s in p)
    text += "".join(s.text for a in world.articles("en") for s in a.sentences())
    tested = {q.entity for q in world.questions("nq", "en", "test")}
    assert all(world.entities[entity].names["en"] in text for entity in tested)


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_answers_stand_in_the_gold_sentence(world, split):
    for question in everything_asked(world, split):
        purpose, language = question.id.partition("-")[0], question.language
        if purpose == "lareqa":
            article = next(a for a in world.parallel_articles(language) if a.entity == question.entity)
        else:
            article = world.article(language if purpose == "mrtydi" else "en", question.entity)
        sentence = article.sentences()[question.sentence]
        assert sentence.fact == question.fact
        assert question.answer and question.answer in sentence.text
        paragraph, place = article.paragraph_of(question.sentence)
        assert article.paragraphs()[paragraph][place] is sentence


def test_questions_name_their_entity_in_their_language(world):
    for question in everything_asked(world, "test"):
        assert world.entities[question.entity].names[question.language] in question.text


def test_lareqa_is_parallel(world):
    english, thai = (world.questions("lareqa", code, "test") for code in ("en", "th"))
    assert [(q.id, q.fact, q.sentence) for q in english] == [(q.id, q.fact, q.sentence) for q in thai]
    for one, other in zip(world.parallel_articles("en"), world.parallel_articles("th"), strict=True):
        assert [s.fact for s in one.sentences()] == [s.fact for s in other.sentences()]


def test_mentions_and_links_are_spans_of_names(world):
    for code in LANGUAGES:
        for article in world.articles(code):
            for sentence in article.sentences():
                for link in sentence.mentions:
                    assert sentence.text[link.start : link.end] == world.entities[link.entity].names[code]
                assert set(sentence.links) <= set(sentence.mentions)
                for link in sentence.links:
                    assert link.entity != article.entity
                    assert code in world.entities[link.entity].coverage
        for mention in world.mentions(code, "dev"):
            assert mention.surface == world.entities[mention.entity].names[code]


def symmetric(world: World, code: str) -> list[tuple]:
    """Pairs of sentences of two pages that link to each other's page (equation 2 of KEPT)."""
    linking: dict[tuple[str, str], list] = {}
    for article in world.articles(code):
        for sentence in article.sentences():
            for target in {link.entity for link in sentence.links}:
                linking.setdefault((article.entity, target), []).append(sentence)
    return [
        (one, other)
        for (page, target), sentences in linking.items()
        if page < target
        for one in sentences
        for other in linking.get((target, page), [])
    ]


def test_pages_of_values_tell_facts_the_other_way_round_with_links_back(world):
    """The premise of ILK (KEPT 3.3): sentences that link to each other's page tell similar facts."""
    for code in ("en", "ru", "th"):
        pairs = symmetric(world, code)
        same = [pair for pair in pairs if pair[0].fact == pair[1].fact is not None]
        assert len(same) > 20 and len(same) > 0.6 * len(pairs)
        assert all(one.text != other.text for one, other in same)
        facts = {fact for article in world.articles(code) for s in article.sentences() if s.value and (fact := s.fact)}
        articles = {article.entity: article for article in world.articles(code)}
        inverse = [s for a in articles.values() for s in a.sentences() if s.fact and s.fact.subject != a.entity]
        for article in articles.values():
            for sentence in article.sentences():
                if sentence.fact and sentence.fact.subject != article.entity:
                    assert sentence.fact.value == article.entity and sentence.fact in facts
                    assert sentence.fact.subject in {link.entity for link in sentence.links}
                    assert sentence.value is None
        possible = [
            f for f in facts if f.kind == "entity" and f.value in articles and not f.relation.endswith(".definition")
        ]
        assert 0.55 < len(inverse) / len(possible) < 0.85  # dials.inverse .7


def test_links_back_grow_with_the_world():
    few, many = (len(symmetric(generate(WorldSizes(entities=n), ["en"], 0), "en")) for n in (60, 240))
    assert many > 3 * few


def test_every_relation_between_entities_can_be_told_the_other_way_round(world):
    whole = generate(WorldSizes(entities=20, types=8), ["en"], 0).concepts
    for relation in (r for r in whole.relations.values() if not r.is_definition):
        assert bool(relation.inverse) == (relation.kind == "entity"), relation.name
        assert all(p.startswith("{o} ") and p.count("{s}") == 1 for p in relation.inverse or []), relation.name


def test_english_has_every_article_and_others_a_share(world):
    assert len(world.articles("en")) == len(world.entities)
    assert 0.3 < len(world.articles("te")) / len(world.entities) < 0.6


def test_test_sentences_of_tatoeba_are_unique_and_native(world):
    english_words = {word for forms in world.concepts.words.values() for word in forms}
    for code in ("ru", "th"):
        pairs = world.parallel(code, "tatoeba")
        assert len(pairs) == 60
        assert len({english for english, _ in pairs}) == len({foreign for _, foreign in pairs}) == 60
        training = world.parallel(code, "training")
        assert not {english for english, _ in pairs} & {english for english, _ in training}
        for _, foreign in pairs:
            assert not any(c.isdigit() for c in foreign)
            assert not english_words & set(foreign.rstrip(".").split(" "))


def test_translation_pairs_are_as_many_as_asked_and_differ(world):
    for code in ("es", "ja"):
        pairs = world.parallel(code, "training")
        assert len(pairs) == len(set(pairs)) == 100
        assert all(english != foreign for english, foreign in pairs)


def test_documents_of_the_crawl_have_the_asked_length(world):
    low, high = world.sizes.web_sentences
    documents = list(world.web_documents("ru"))
    assert len(documents) == SMALL["web_documents"]
    assert all(low <= sum(map(len, document)) <= high for document in documents)


def test_english_looks_like_english(world):
    sentences = [s.text for a in world.articles("en") for s in a.sentences()]
    assert all(s[0].isupper() or s[0].isdigit() for s in sentences)
    assert all(s.endswith(".") and not s.endswith("..") for s in sentences)
    text = " ".join(sentences)
    assert re.search(r"\b(Dr|Prof|Mr|Mrs|St)\. [A-Z]", text)
    assert re.search(r" (Co|Inc|Ltd)\. [a-z]", text)
    assert re.search(r"\bIn \d{4}, [A-Z]", text)
    assert " a " in text and " the " in text
    assert " a an" not in text and " a apple" not in text


def test_the_smallest_world_has_every_type_of_entity():
    for seed in range(5):
        types = [e.type for e in generate(WorldSizes(entities=20), ["en"], seed).entities.values()]
        assert min(types.count(name) for name in set(types)) >= 2
        assert len(set(types)) == WorldSizes().types


def test_a_scale_may_want_more_words_than_are_listed():
    world = generate(WorldSizes(entities=20, nouns=200, verbs=40, adjectives=40), ["en", "hi"], 0)
    assert len(set(world.concepts.nouns)) == 200
    assert world.lexicons["hi"].forms[world.concepts.nouns[-1]]


def test_bad_sizes_and_names_are_refused():
    with pytest.raises(SteleError, match="world: unknown key 'entitys'; did you mean 'entities'"):
        world_sizes({"entitys": 100})
    with pytest.raises(SteleError, match=r"world: dials\.loan.*1\.5"):
        world_sizes({"dials": {"loan": 1.5}})
    with pytest.raises(SteleError, match="unknown language 'xx'"):
        generate(WorldSizes(entities=20), ["xx"], 0)
    with pytest.raises(SteleError, match="cannot be generated"):
        generate(WorldSizes(entities=20), ["km"], 0)
    with pytest.raises(SteleError, match=r"unknown purpose 'nqq'.*did you mean 'nq'"):
        generate(WorldSizes(entities=20), ["en"], 0).questions("nqq", "en", "dev")


@pytest.mark.parametrize("scale", GENERATED_SCALES)
def test_shipped_scales_have_worlds_that_can_be_generated(scale):
    block, languages = GENERATED_SCALES[scale]
    sizes = world_sizes(block, f"{scale}: world")
    assert sizes.entities == block["entities"]
    concepts = inventory(sizes)
    for seed in range(20):
        lexicons = {code: Lexicon(language(code), concepts, sizes.dials, seed) for code in languages}
        named = entities(concepts, sizes, lexicons, seed)
        assert len(named) == sizes.entities
        for code in languages:
            names = [entity.names[code] for entity in named.values()]
            assert not {name for name, count in Counter(names).items() if count > 1}, (seed, code)


def test_a_name_that_another_script_writes_like_one_before_is_drawn_anew(monkeypatch):
    drawn = iter(["foni", "honi", "zato", "foni"])
    monkeypatch.setattr(facts, "_name_word", lambda *_: next(drawn))
    monkeypatch.setattr(facts, "GIVEN_NAMES", 0)
    assert facts._names(["river", "river"], 0) == [("river", ("foni",)), ("river", ("zato",))]  # フォニ, ホニ: one kana
    monkeypatch.setattr(facts, "_name_word", lambda *_: "foni")
    with pytest.raises(SteleError, match="too few distinct names for 2 entities"):
        facts._names(["river", "river"], 0)
