"""Six newswire collections: documents in their publishers' layouts, topics and judgments in those of their tracks.

Layouts: Anserini's TrecCollection and regression pages, ir_datasets 0.6.3 (trec-arabic, trec-spanish), CLEF's
guidelines. Traps of real files are kept: an id that comes twice (the later copy is the whole one), a document without
words, documents of other years beside the collection, tags that are not closed, and more that is judged than topics
ask. NTCIR's queries are questions, the others' are keywords.
"""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from stele_world.content.draws import Draws, stream
from stele_world.content.generate import World
from stele_world.content.model import Fact, Sentence
from stele_world.site import Site
from stele_world.writers.library import Library

TOPICS, UNASKED = 40, 8  # topics of a collection, and further ones that are judged only
NOT_RELEVANT = 6  # documents a topic that are judged not to be
NIST = "https://trec.nist.gov/data"

Files = dict[str, bytes]  # name in the licensed folder, or address -> uncompressed bytes


class Document(NamedTuple):
    """A document of the newswire; `place` counts from 0."""

    place: int
    headline: str
    paragraphs: tuple[tuple[Sentence, ...], ...]

    def facts(self) -> set[Fact]:
        return {s.fact for paragraph in self.paragraphs for s in paragraph if s.fact}


class Topic(NamedTuple):
    """A topic: keywords, a question, and the places of the documents that tell the answer."""

    number: int
    keywords: str
    question: str
    relevant: list[int]


# --- of all collections that newswire is made into --------------------------------------------------------------------
def newswire(library: Library, language: str, most: int | None = None) -> list[Document]:
    """The newswire of a language, the first `most` documents of it."""
    documents = []
    for place, paragraphs in enumerate(islice(library.world.newswire(language), most)):
        named = [mention for sentence in paragraphs[0] for mention in sentence.mentions]
        names = {library.world.entities[mention.entity].names[language]: None for mention in named[:2]}
        documents.append(Document(place, " ".join(names), tuple(paragraphs)))
    return documents


def telling(documents: Iterable[Document]) -> dict[Fact, list[int]]:
    """Fact -> the places of the documents that tell it."""
    places: dict[Fact, list[int]] = {}
    for document in documents:
        for fact in document.facts():
            places.setdefault(fact, []).append(document.place)
    return places


def askable(world: World, told: Iterable[Fact]) -> list[Fact]:
    """Facts about entities of the test split that some document tells, definitions left out."""
    told = set(told)
    tested = [id_ for id_, entity in world.entities.items() if entity.split == "test"]
    return [fact for id_ in tested for fact in world.facts.of[id_][1:] if fact in told]


def keywords_and_question(world: World, language: str, fact: Fact, draws: Draws) -> tuple[str, str]:
    """A topic's keywords (the name of the fact's subject, its verb), and its question."""
    grammar = world.grammars[language]
    word = grammar.lexicon.word(world.concepts.relations[fact.relation].name, draws)
    return f"{world.entities[fact.subject].names[language]} {word}", grammar.question(fact, draws)


def judged(relevant: Sequence[int], size: int, drawn: int, draws: Draws, absent: int | None) -> list[tuple[int, int]]:
    """(place, relevance): all relevant documents, some of `drawn` others, and the place of one that is not there."""
    others = {draws.integer(size) for _ in range(drawn)} - {*relevant}
    values = {**dict.fromkeys(relevant, 1), **dict.fromkeys(others, 0)}
    if absent is not None:
        values[absent] = 0
    return sorted(values.items())


def legacy(text: str, encoding: str) -> bytes:
    """Text in an encoding of its time; what that lacks becomes an entity."""
    return text.encode(encoding, "xmlcharrefreplace")


# --- the six ----------------------------------------------------------------------------------------------------------
def write_collections(site: Site, library: Library) -> None:
    for language, (dataset, layout) in COLLECTIONS.items():
        if language in library.world.languages:
            collection = layout(library, language)
            for name, data in collection.files().items():
                site.put(name, data) if "://" in name else site.put_licensed(dataset, name, data)
            site.count(dataset, topics=len(collection.topics), documents=len(collection.documents) + 1)


class Collection(ABC):
    """A collection: its documents, topics and judgments; subclasses have the layouts."""

    def __init__(self, library: Library, language: str) -> None:
        self.world, self.language = library.world, language
        self.documents = newswire(library, language)
        self.between = library.between(language)
        self.all_topics = self._all_topics()
        self.topics = self.all_topics[:TOPICS]

    @abstractmethod
    def name(self, place: int) -> str:
        """The id of a document."""

    @abstractmethod
    def record(self, id_: str, headline: str, text: str) -> str:
        """A document in its publisher's layout."""

    def number(self, topic: Topic) -> str:
        """The number of a topic in the judgments."""
        return str(topic.number)

    @abstractmethod
    def files(self) -> Files:
        """All files of the collection."""

    def _all_topics(self) -> list[Topic]:
        """Facts about entities of the test split that some document tells, each asked once."""
        world, places = self.world, telling(self.documents)
        asked = stream(world.seed, "topics", self.language).shuffled(askable(world, places))
        topics = []
        for number, fact in enumerate(asked[: TOPICS + UNASKED], start=1):
            draws = stream(world.seed, "topic", self.language, fact.subject, fact.relation)
            topics.append(Topic(number, *keywords_and_question(world, self.language, fact, draws), places[fact]))
        return topics

    def text(self, document: Document) -> str:
        """A document's paragraphs, a line each."""
        told = (self.between.join(s.text for s in paragraph) for paragraph in document.paragraphs)
        return "\n".join(html.escape(text, quote=False) for text in told)

    def records(self) -> list[str]:
        """All documents in their layout, an empty one, and, before the whole one, a cut copy of the third."""
        headlines = [html.escape(document.headline, quote=False) for document in self.documents]
        texts = [self.text(document) for document in self.documents]
        whole = [self.record(self.name(n), headlines[n], text) for n, text in enumerate(texts)]
        cut = self.record(self.name(2), headlines[2], texts[2][:40])
        return [*whole[:2], cut, *whole[2:], self.record(self.name(len(whole)), "", "")]

    def qrels(self) -> bytes:
        """Judgments: all that is relevant, some that is not, and one of a document that is not there."""
        lines, size = [], len(self.documents)
        for topic in self.all_topics:
            draws = stream(self.world.seed, "judged", self.language, topic.number)
            for place, value in judged(topic.relevant, size, NOT_RELEVANT, draws, absent=size + 7):
                lines.append(f"{self.number(topic)} 0 {self.name(place)} {value}\n")
        return "".join(lines).encode()


class Ntcir8(Collection):
    """Gigaword: a gzipped file a month, `<DOC id=...>`, paragraphs in <P>; topics are questions."""

    def name(self, place: int) -> str:
        return f"XIN_CMN_2002{1 + place // 200 % 12:02}01.{place:04}"

    def record(self, id_: str, headline: str, text: str) -> str:
        body = "".join(f"<P>\n{line}\n</P>\n" for line in text.splitlines())
        return f'<DOC id="{id_}" type="story" >\n<HEADLINE>\n{headline}\n</HEADLINE>\n<TEXT>\n{body}</TEXT>\n</DOC>\n'

    def number(self, topic: Topic) -> str:
        return f"ACLIA2-CS-{topic.number:04}"

    def files(self) -> Files:
        later = self.record("XIN_CMN_20060101.0001", "", self.text(self.documents[0]))
        return {
            "xin_cmn_200201.gz": "".join(self.records()).encode(),
            "xin_cmn_200601.gz": later.encode(),  # of the same discs, and not of the collection
            "topics.ntcir8zh.eval.txt": "".join(f"{self.number(t)}\t{t.question}\n" for t in self.topics).encode(),
            "qrels.ntcir8.eval.txt": self.qrels(),
        }


class Trec2002(Collection):
    """AFP: a gzipped file a day; topics in ISO-8859-6, AR1 for topic 1 of the judgments."""

    def name(self, place: int) -> str:
        return f"19940513_AFP_ARB.{place:04}"

    def record(self, id_: str, headline: str, text: str) -> str:
        body = "".join(f"<P>\n{line}\n</P>\n" for line in text.splitlines())
        return (
            f"<DOC>\n<DOCNO>{id_}</DOCNO>\n<HEADER>ara afp\n</HEADER>\n<BODY>\n<HEADLINE> {headline} </HEADLINE>\n"
            f"<TEXT>\n{body}</TEXT>\n<FOOTER>afp</FOOTER>\n</BODY>\n</DOC>\n"
        )

    def files(self) -> Files:
        topics = "".join(
            f"<top>\n\n<num> Number: AR{t.number}\n<title>  {t.keywords} \n\n<desc> Description: \n{t.question}\n\n"
            f"<narr> Narrative:  \n{t.question}\n\n</top>\n\n"
            for t in self.topics
        )
        return {
            "1994/19940513_AFP_ARB.sgm.gz": "".join(self.records()).encode(),
            f"{NIST}/topics_noneng/CL.topics.arabic.trec11.txt": legacy(topics, "iso-8859-6"),
            f"{NIST}/qrels_noneng/qrels.trec11.xlingual.txt": self.qrels(),
        }


class Clef2006(Collection):
    """Le Monde and ATS, each with tags of its own, in ISO-8859-1; Anserini's topics."""

    def name(self, place: int) -> str:
        first = place < len(self.documents) // 2
        return f"LEMONDE94-{place:06}-19940101" if first else f"ATS.940101.{place:04}"

    def record(self, id_: str, headline: str, text: str) -> str:
        lead, _, rest = text.partition("\n")
        if id_.startswith("LEMONDE"):
            body = f"<TITLE>{headline}</TITLE>\n<LEAD1>\n{lead}\n</LEAD1>\n<TEXT>\n{rest}\n</TEXT>\n"
        else:
            body = f"<TI>{headline}</TI>\n<LD>{lead}</LD>\n<TX>{rest}</TX>\n"
        return f"<DOC>\n<DOCNO>{id_}</DOCNO>\n<DOCID>{id_}</DOCID>\n<DATE>940101</DATE>\n{body}</DOC>\n"

    def number(self, topic: Topic) -> str:
        return f"{300 + topic.number}-AH"

    def files(self) -> Files:
        records = self.records()
        first = "".join(record for record in records if "<DOCNO>LEMONDE" in record)
        second = "".join(record for record in records if "<DOCNO>ATS" in record)
        return {
            "lemonde94/le_monde.sgml": legacy(first, "iso-8859-1"),
            "sda94/ats.sgml": legacy(second, "iso-8859-1"),
            "topics.clef06fr.mono.fr.txt": "".join(f"{self.number(t)}\t{t.keywords}\n" for t in self.topics).encode(),
            "qrels.clef06fr.txt": self.qrels(),
        }


NEWSPAPERS = {"hi": ("hi_AmarUjala", "hi_NavbharatTimes"), "bn": ("bn_ABP", "bn_BDNews24")}


class Fire2012(Collection):
    """FIRE: a file a document, of two newspapers; topics in closed tags."""

    def name(self, place: int) -> str:
        return f"{self.language}_{place:05}.utf8"

    def record(self, id_: str, headline: str, text: str) -> str:
        return f"<DOC>\n<DOCNO>{id_}</DOCNO>\n<TITLE>{headline}</TITLE>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n"

    def number(self, topic: Topic) -> str:
        return str(175 + topic.number)

    def files(self) -> Files:
        records, (first, second) = self.records(), NEWSPAPERS[self.language]
        files = {}
        for n, record in enumerate(records):
            newspaper = first if 2 * n < len(records) else second
            files[f"{newspaper}/{n // 100}/{n:05}.txt"] = record.encode()
        topics = "".join(
            f"<top lang='{self.language}'>\n<num>{self.number(t)}</num>\n<title>{t.keywords}</title>\n"
            f"<desc>{t.question}</desc>\n<narr>{t.question}</narr>\n</top>\n\n"
            for t in self.topics
        )
        files[f"topics.fire12{self.language}.176-225.txt"] = f"<topics>\n{topics}</topics>\n".encode()
        return {**files, f"qrels.fire12{self.language}.176-225.txt": self.qrels()}


class Trec3(Collection):
    """El Norte in ISO-8859-1, some texts not closed; topics with English lines, SP1 for topic 1 of the judgments."""

    def name(self, place: int) -> str:
        return f"SP94-{place:07}"

    def record(self, id_: str, headline: str, text: str) -> str:
        end = "" if id_.endswith("5") else "</TEXT>\n"
        return f"<DOC>\n<DOCNO> {id_} </DOCNO>\n<HEADLINE>\n\n{headline}\n</HEADLINE>\n<TEXT>\n{text}\n{end}</DOC>\n"

    def files(self) -> Files:
        topics = "".join(
            f"<top>\n\n<num> Number: SP{t.number}\n\n<title> Topic: {t.keywords}\n** In English\n\n"
            f"<desc> Description:\n{t.question}\n\n** In English, on two\nlines\n\n<narr> Narrative:\n{t.question}\n\n"
            f"** In English\n\n</top>\n\n"
            for t in self.topics
        )
        later = self.record("AF940512-0001", "", self.text(self.documents[0]))
        return {
            "ism_001": legacy("".join(self.records()), "iso-8859-1"),
            "af940512": legacy(later, "iso-8859-1"),  # of TREC-5
            f"{NIST}/topics_noneng/topics.SP1-SP25.spanish.english.gz": legacy(topics, "iso-8859-1"),
            f"{NIST}/qrels_noneng/qrels.1-25.spanish.gz": self.qrels(),
        }


COLLECTIONS: dict[str, tuple[str, type[Collection]]] = {
    "zh": ("ntcir8_zh", Ntcir8),
    "ar": ("trec2002_ar", Trec2002),
    "fr": ("clef2006_fr", Clef2006),
    "hi": ("fire2012_hi", Fire2012),
    "bn": ("fire2012_bn", Fire2012),
    "es": ("trec3_es", Trec3),
}
