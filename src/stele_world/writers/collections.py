"""Writers of six newswire collections: documents in publishers' layouts, topics and judgments in their tracks' layouts.

Layouts (collections.yaml): Anserini's TrecCollection and regression pages, ir_datasets 0.6.3 (trec-arabic,
trec-spanish), CLEF's guidelines. The files have the traps of real ones: an id that occurs twice (the later copy is
complete), a document without words, documents of other years, unclosed tags, and judgments of topics that are not
searched. NTCIR's queries are questions, the others' are keywords.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from stele.catalogue import read_yaml
from stele.files.strict import Strict, validate
from stele_world.content.draws import Draws, stream
from stele_world.content.model import Fact, Sentence
from stele_world.site import Site, lines
from stele_world.writers.library import Library, filled

if TYPE_CHECKING:
    from stele_world.content.generate import World

FILE = Path(__file__).with_name("collections.yaml")
TOPICS, UNASKED = 40, 8  # topics of a collection; further judged ones without a topic
NOT_RELEVANT = 6  # documents per topic that are judged not relevant
OUTSIDE = "xmlcharrefreplace"  # characters outside a legacy encoding become entities


class Form(Strict):
    """Templates of a file's name, of an id, and of a text: that of a document, or of all topics."""

    file: str
    id: str
    text: str
    encoding: str = "utf-8"


class Layout(Strict):
    """Layout of a collection's files."""

    language: str
    documents: Form
    topics: Form
    judgments: str
    beside: dict[str, str] = Field({}, description="file -> the id of a document that is none of the collection's")


class Paper(Strict):
    """A newspaper of CLEF: its file, the pattern of a document's id, the tags of headline, lead and text."""

    file: str
    id: str
    headline: str
    lead: str = ""
    text: str


class Clef(Strict):
    """Newspapers of each language, and the templates of their documents and of all topics."""

    papers: dict[str, list[Paper]]
    document: str
    topics: str


class Layouts(Strict):
    """Contents of collections.yaml; `collections` are by dataset."""

    collections: dict[str, Layout]
    clef: Clef


@cache
def layouts() -> Layouts:
    """Loads the layouts of collections.yaml."""
    return validate(Layouts, read_yaml(FILE), FILE)


class Document(NamedTuple):
    """A document of the newswire; `place` is its number, from 0."""

    place: int
    headline: str
    paragraphs: tuple[tuple[Sentence, ...], ...]

    def facts(self) -> set[Fact]:
        return {s.fact for paragraph in self.paragraphs for s in paragraph if s.fact}

    def lines(self, between: str) -> list[str]:
        """Paragraphs of the document, with `between` as separator of sentences."""
        return [between.join(s.text for s in paragraph) for paragraph in self.paragraphs]


# --- of all collections that newswire is made into --------------------------------------------------------------------
def newswire(library: Library, language: str, most: int | None = None) -> list[Document]:
    """Generates the first `most` documents of a language's newswire."""
    documents = []
    for place, paragraphs in enumerate(islice(library.world.newswire(language), most)):
        named = [mention for sentence in paragraphs[0] for mention in sentence.mentions]
        names = {library.world.entities[mention.entity].names[language]: None for mention in named[:2]}
        documents.append(Document(place, " ".join(names), tuple(paragraphs)))
    return documents


def telling(documents: Iterable[Document]) -> dict[Fact, list[int]]:
    """Numbers of the documents that state each fact: fact -> places."""
    places: dict[Fact, list[int]] = {}
    for document in documents:
        for fact in document.facts():
            places.setdefault(fact, []).append(document.place)
    return places


def askable(world: World, told: Iterable[Fact]) -> list[Fact]:
    """Facts that some document states about the test split's entities, without their definitions."""
    told = set(told)
    tested = [id_ for id_, entity in world.entities.items() if entity.split == "test"]
    return [fact for id_ in tested for fact in world.facts.of[id_][1:] if fact in told]


def keywords_and_question(world: World, language: str, fact: Fact, draws: Draws) -> tuple[str, str]:
    """Keywords of a topic (the name of the fact's subject, its verb), and its question."""
    grammar = world.grammars[language]
    word = grammar.lexicon.word(world.concepts.relations[fact.relation].name, draws)
    return f"{world.entities[fact.subject].names[language]} {word}", grammar.question(fact, draws)


def judged(relevant: Sequence[int], size: int, drawn: int, draws: Draws, absent: int | None) -> list[tuple[int, int]]:
    """Judgments (place, relevance): all relevant documents, some of the `drawn` others, a missing document."""
    others = {draws.between(0, size - 1) for _ in range(drawn)} - {*relevant}
    values = {**dict.fromkeys(relevant, 1), **dict.fromkeys(others, 0)}
    if absent is not None:
        values[absent] = 0
    return sorted(values.items())


# --- the six ----------------------------------------------------------------------------------------------------------
def write_collections(site: Site, library: Library) -> None:
    for dataset, layout in layouts().collections.items():
        if layout.language in library.world.languages:
            documents = newswire(library, layout.language)
            topics = _topics(library.world, layout, documents)
            files = {
                **_document_files(library, layout, documents),
                **_topic_files(library.world, layout, topics, documents),
            }
            for name, data in files.items():
                site.put(name, data) if "://" in name else site.put_licensed(dataset, name, data)
            site.count(dataset, topics=len(topics[:TOPICS]), documents=len(documents) + 1)


def _topics(world: World, layout: Layout, documents: list[Document]) -> list[dict[str, Any]]:
    """Topics on facts about entities of the test split that some document states, each fact once."""
    places, language = telling(documents), layout.language
    asked = stream(world.seed, "topics", language).shuffled(askable(world, places))
    topics = []
    for number, fact in enumerate(asked[: TOPICS + UNASKED], start=1):
        draws = stream(world.seed, "topic", language, fact.subject, fact.relation)
        keywords, question = keywords_and_question(world, language, fact, draws)
        id_ = filled(layout.topics.id, number=number)
        topics.append(
            {"number": number, "id": id_, "keywords": keywords, "question": question, "relevant": places[fact]}
        )
    return topics


def _document_files(library: Library, layout: Layout, documents: list[Document]) -> dict[str, bytes]:
    """Files of all documents, with an empty one, and a cut copy of the third before the whole one."""
    between, form, files = library.between(layout.language), layout.documents, defaultdict(str)
    told = [escaped(document, between) for document in documents]
    place, headline, text = told[2]
    told = [*told[:2], (place, headline, "\n".join(text)[:40].split("\n")), *told[2:], (len(told), "", [])]
    for number, (place, headline, text) in enumerate(told):
        values = {"language": layout.language, "documents": len(documents), "place": place, "number": number}
        values |= {"id": filled(form.id, **values), "headline": headline, "lines": text}
        files[filled(form.file, **values)] += filled(form.text, **values)
    for file, id_ in layout.beside.items():
        files[file] = filled(form.text, id=id_, headline="", lines=escaped(documents[0], between)[2])
    return {name: text.encode(form.encoding, OUTSIDE) for name, text in files.items()}


def escaped(document: Document, between: str) -> tuple[int, str, list[str]]:
    """Headline and lines of a document as in its file, after its place: (place, headline, lines)."""
    headline, *text = (html.escape(t, quote=False) for t in (document.headline, *document.lines(between)))
    return document.place, headline, text


def _topic_files(
    world: World, layout: Layout, topics: list[dict[str, Any]], documents: list[Document]
) -> dict[str, bytes]:
    """Files of topics and judgments: all relevant documents, some others, and one that is missing."""
    language, form, size, rows = layout.language, layout.topics, len(documents), []
    for topic in topics:
        draws = stream(world.seed, "judged", language, topic["number"])
        for place, value in judged(topic["relevant"], size, NOT_RELEVANT, draws, absent=size + 7):
            name = filled(layout.documents.id, language=language, documents=size, place=place)
            rows.append(f"{topic['id']} 0 {name} {value}")
    asked = filled(form.text, language=language, topics=topics[:TOPICS])
    return {
        filled(form.file, language=language): asked.encode(form.encoding, OUTSIDE),
        filled(layout.judgments, language=language): lines(rows),
    }
