"""CLEF, written and read back by the reader of the real one: newspapers, topics in four languages, judgments."""

import pytest

from stele.benchmarks.clef import Clef
from stele.reranking.folds.candidates import read_candidates
from stele_world.writers import clef

NEWS = 60
PAIRS = ["en-de", "fr-es", "de-fr", "es-en"]


@pytest.fixture(scope="module")
def written_world(written):
    return written({"entities": 80, "newswire": NEWS}, ["en", "de", "es", "fr", "fi"], clef.write_clef)


@pytest.fixture(scope="module")
def data(site):
    return {"clef": {"all": site.user_data / "clef"}}


@pytest.mark.parametrize("pair", PAIRS)
def test_it_is_read_as_the_real_one(data, library, pair):
    (query_set,) = Clef().query_sets([pair])
    texts = {passage.id: passage.text for passage in Clef().passages(data, query_set.collection)}
    between = library.between(query_set.collection)
    assert len(texts) == NEWS
    for place, paragraphs in enumerate(library.world.newswire(query_set.collection)):
        told = [between.join(s.text for s in paragraph) for paragraph in paragraphs]
        text = texts[clef.name_of(query_set.collection, place)]
        assert all(part in text for part in told) and "news" not in text.split()  # no keywords, nothing lost
    candidates = read_candidates(Clef(), data, query_set)
    assert candidates.counts["documents_absent"] >= 1
    assert len(candidates.topics) >= 5 and candidates.relevant.any() and not candidates.relevant.all()
    assert candidates.counts["topics"] + candidates.counts["topics_without_relevant"] <= clef.TOPICS


def test_relevant_documents_tell_the_fact_in_their_language(data, library):
    """By the world and not by the writer; and a topic is of one fact in all languages."""
    of_topic = {}
    for pair in ("en-de", "en-es", "en-fr", "de-en"):
        (query_set,) = Clef().query_sets([pair])
        news = library.world.newswire(query_set.collection)
        facts = [{s.fact for paragraph in document for s in paragraph} - {None} for document in news]
        names = [clef.name_of(query_set.collection, place) for place in range(NEWS)]
        for topic, judged in Clef().judgments(data, query_set).items():
            relevant = {names.index(name) for name, value in judged.items() if value}
            shared = set.intersection(*(facts[place] for place in relevant)) if relevant else None
            exact = {f for f in shared or () if {p for p, own in enumerate(facts) if f in own} == relevant}
            assert exact or not relevant
            if relevant:
                of_topic.setdefault(topic, []).append(exact)
    assert all(set.intersection(*facts) for facts in of_topic.values())
    assert any(len(facts) > 1 for facts in of_topic.values())
