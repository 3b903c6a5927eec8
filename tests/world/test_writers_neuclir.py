"""NeuCLIRBench of the generated world, read back by the readers of the real one: gains, traps, languages of its own."""

import pytest

from stele.benchmarks.neuclir_clir import NeuclirClir
from stele.benchmarks.neuclir_mlir import NeuclirMlir
from stele.benchmarks.neuclir_mono import NeuclirMono
from stele.recipes.world import world_sizes
from stele_world.content.generate import generate
from stele_world.site import path_of
from stele_world.writers import neuclir

SIZES = {"entities": 120}


@pytest.fixture(scope="module")
def written_world(written):
    return written(SIZES, ["en", "sw"], neuclir.write_neuclir)


@pytest.fixture(scope="module")
def data(site):
    files = {url.rpartition("/")[2]: path_of(site.mirror, url) for url in site.files}
    corpus = {code: files[f"{name}-00000-of-00001.jsonl.gz"] for code, name in neuclir.NAMES.items()}
    return {"neuclir": {"all": files["news.eng.tsv"].parent}, "neuclir_corpus": corpus}


def test_a_query_of_each_language_asks_for_what_documents_of_highest_gain_tell(data):
    world = generate(world_sizes(SIZES), ["en", *neuclir.NAMES], 0)
    for query_set in NeuclirMono().query_sets([*neuclir.NAMES]):
        language = query_set.language
        facts = {
            passage.id: {s.fact for paragraph in paragraphs for s in paragraph if s.fact}
            for passage, paragraphs in zip(
                NeuclirMono().passages(data, language), world.newswire(language), strict=False
            )
        }
        assert len(facts) == neuclir.DOCUMENTS
        judged = NeuclirMono().judgments(data, query_set)
        asked = {query.id: query.text for query in NeuclirMono().queries(data, query_set)}
        english = {query.id: query.text for query in NeuclirClir().queries(data, query_set)}
        assert asked.keys() == english.keys() == judged.keys() and len(asked) > 5
        for number, gains in judged.items():
            best = [facts[name] for name, gain in gains.items() if gain == 3]
            related = [facts[name] for name, gain in gains.items() if gain]
            subjects = set.intersection(*({fact.subject for fact in told} for told in related))
            named = [s for s in subjects if world.entities[s].names[language] in asked[number]]
            assert named and world.entities[named[0]].names["en"] in english[number]
            assert not best or any(fact.subject in named for fact in set.intersection(*best))
            assert {*gains.values()} <= {0, 1, 3} and 0 in gains.values()


def test_the_multilingual_judgments_are_the_others_of_fewer_queries(data):
    (query_set,) = NeuclirMlir().query_sets(["en"])
    joined = NeuclirMlir().judgments(data, query_set)
    apart = [NeuclirMono().judgments(data, s) for s in NeuclirMono().query_sets([*neuclir.NAMES])]
    for number, gains in joined.items():
        assert gains == {name: gain for of in apart for name, gain in of.get(number, {}).items()}
    assert 5 < len(joined) < len({number for of in apart for number in of})


def test_some_documents_have_no_title_and_some_judged_ones_are_not_there(data, caplog):
    documents = list(NeuclirMlir().passages(data, "all"))
    assert len({document.id for document in documents}) == len(documents) == 3 * neuclir.DOCUMENTS
    assert 0 < sum(not document.title for document in documents) < len(documents) / 4
    assert "3 judged documents are not in the collection" in caplog.text


def test_the_world_that_it_tells_is_the_same_whatever_a_scale_has(site, written):
    """The same bytes with other languages, and with Russian, which other datasets have too."""
    assert written(SIZES, ["en", "ru", "th"], neuclir.write_neuclir).site.files == site.files


def test_counts_are_those_of_the_files(site, data):
    assert site.counts["neuclir_corpus"]["passages"] == dict.fromkeys(neuclir.NAMES, neuclir.DOCUMENTS)
    lines = [path.read_text().count("\n") for path in data["neuclir"]["all"].glob("qrels.*")]
    assert len(lines) == 4 and site.counts["neuclir"]["judgments"] == sum(lines)
