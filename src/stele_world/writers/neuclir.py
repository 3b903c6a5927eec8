"""Writer of NeuCLIRBench: news in Persian, Russian and Chinese, queries in these and English, gains of 0, 1 and 3.

Format: the cards of neuclir/bench and neuclir/neuclir1 and the latter's loader on the Hugging Face hub. The news come
from a second world with the same seed and sizes, and so the same entities and facts, since a scale may have no Persian
or Chinese otherwise. A query asks for a fact that some document states, as keywords joined with a question. Documents
that state it have gain 3, others about its subject 1, some others 0. The files have the traps of real ones: queries
without judgments, fewer queries judged on all languages, a judged document that is missing, documents without a title,
and mostly documents longer than the inputs of the miniature's models.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from stele_world.content.draws import stream
from stele_world.content.generate import World, generate
from stele_world.content.model import Fact
from stele_world.site import Site, jsonl, lines
from stele_world.writers.collections import Document, keywords_and_question, newswire
from stele_world.writers.library import Library

CORPUS = (
    "https://huggingface.co/datasets/neuclir/neuclir1/resolve/cefdd2300894bf2329428d0262f60e2dd9e59a25/data/"
    "{name}-00000-of-00001.jsonl.gz"
)
BENCH = "https://huggingface.co/datasets/neuclir/bench/resolve/main/data"
NAMES = {"fa": "fas", "ru": "rus", "zh": "zho"}
LANGUAGES = ("en", *NAMES)
DOCUMENTS = 140  # a language, at most: more than the 100 of which recall is measured
QUERIES, UNASKED, LEFT_OUT = 20, 3, 6  # topics: judged; unjudged but in the files; judged, but not in all languages
UNTITLED = 7  # every seventh document has no title
NOT_RELEVANT = 6  # documents per query that are judged not relevant
TELLS, MENTIONS, OTHER = 3, 1, 0  # gains

Gains = dict[str, dict[str, int]]


def write_neuclir(site: Site, library: Library) -> None:
    world = generate(library.world.sizes, LANGUAGES, library.world.seed)
    news_library = Library(world)
    news = {language: newswire(news_library, language, DOCUMENTS) for language in NAMES}
    for language, name in NAMES.items():
        site.put(CORPUS.format(name=name), jsonl(_row(news_library, language, document) for document in news[language]))
        site.count("neuclir_corpus", language, passages=len(news[language]))
    numbers = {str(100 + n): fact for n, fact in enumerate(islice(_told(world, news), QUERIES + UNASKED))}
    for language in LANGUAGES:
        queries = lines(f"{number}\t{_query(world, language, fact)}" for number, fact in numbers.items())
        site.put(f"{BENCH}/news.{NAMES.get(language, 'eng')}.tsv", queries)
    judged = dict(islice(numbers.items(), len(numbers) - UNASKED))
    gains = {NAMES[language]: _gains(world, language, documents, judged) for language, documents in news.items()}
    gains["mlir"] = _joined(gains.values(), [*judged][: len(judged) - LEFT_OUT])
    for name, of_queries in gains.items():
        site.put(f"{BENCH}/qrels.{name}.gains.txt", lines(_rows(of_queries)))
    site.count("neuclir", judgments=sum(len(_rows(of_queries)) for of_queries in gains.values()))


def _id(language: str, place: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{language} {place}"))


def _row(library: Library, language: str, document: Document) -> dict[str, str]:
    id_ = _id(language, document.place)
    return {
        "id": id_,
        "cc_file": "crawl-data/CC-NEWS/2020/08/CC-NEWS-20200801000000-00000.warc.gz",
        "time": "2020-08-01T00:00:00+00:00",
        "title": "" if document.place % UNTITLED == 0 else document.headline,
        "text": "\n".join(document.lines(library.between(language))),
        "url": f"https://news.example/{id_}",
    }


def _told(world: World, news: Mapping[str, Sequence[Document]]) -> Iterator[Fact]:
    """Yields facts on test-split entities that the news state, one per entity, those in most languages first."""
    told = [set().union(*(document.facts() for document in documents)) for documents in news.values()]
    test = [id_ for id_, entity in world.entities.items() if entity.split == "test"]
    ranked = []
    for id_ in stream(world.seed, "neuclir queries").shuffled(test):
        counted = [(sum(fact in facts for facts in told), fact) for fact in world.facts.of[id_][1:]]
        ranked += [pair for pair in sorted(counted, key=lambda pair: -pair[0])[:1] if pair[0]]
    yield from (fact for _, fact in sorted(ranked, key=lambda pair: -pair[0]))


def _query(world: World, language: str, fact: Fact) -> str:
    draws = stream(world.seed, "neuclir query", language, fact.subject, fact.relation)
    return " ".join(keywords_and_question(world, language, fact, draws))


def _gains(world: World, language: str, documents: Sequence[Document], judged: Mapping[str, Fact]) -> Gains:
    """Gains of a language's documents; queries that none of them answers are not judged there."""
    gains: Gains = {}
    for number, fact in judged.items():
        draws = stream(world.seed, "neuclir judged", language, number)
        of_query = {draws.between(0, len(documents) - 1): OTHER for _ in range(NOT_RELEVANT)}
        for document in documents:
            facts = document.facts()
            if any(told.subject == fact.subject for told in facts):
                of_query[document.place] = TELLS if fact in facts else MENTIONS
        if any(of_query.values()):
            of_query[len(documents)] = OTHER  # a missing document
            gains[number] = {_id(language, place): gain for place, gain in sorted(of_query.items())}
    return gains


def _joined(gains: Iterable[Gains], numbers: Sequence[str]) -> Gains:
    joined: Gains = {}
    for of_queries in gains:
        for number in of_queries.keys() & numbers:
            joined[number] = joined.get(number, {}) | of_queries[number]
    return {number: joined[number] for number in numbers if number in joined}


def _rows(gains: Gains) -> list[str]:
    return [f"{number} 0 {id_} {gain}" for number, of_query in gains.items() for id_, gain in of_query.items()]
