"""Six newswire collections: documents in their publishers' layouts, topics and judgments in those of their tracks.

Layouts: Anserini's TrecCollection and regression pages, ir_datasets 0.6.3 (trec-arabic, trec-spanish), CLEF's
guidelines. Traps of real files are kept: an id that comes twice (the later copy is the whole one), a document without
words, documents of other years beside the collection, tags that are not closed, and more that is judged than topics
ask. NTCIR's queries are questions, the others' are keywords.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

from stele_world.content.draws import stream
from stele_world.content.model import Fact, Sentence
from stele_world.site import Site
from stele_world.writers.library import Library

TOPICS, UNASKED = 40, 8  # topics of a collection, and further ones that are judged only
NOT_RELEVANT = 6  # documents a topic that are judged not to be
NIST = "https://trec.nist.gov/data"


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


Files = dict[str, bytes]  # name in the licensed folder, or address -> uncompressed bytes


def write_collections(site: Site, library: Library) -> None:
    for language, (dataset, put) in COLLECTIONS.items():
        if language in library.world.languages:
            writer = Writer(library, language, newswire(library, language))
            for name, data in put(writer).items():
                site.put(name, data) if "://" in name else site.put_licensed(dataset, name, data)
            site.count(dataset, topics=len(writer.topics), documents=len(writer.documents) + 1)


def newswire(library: Library, language: str, most: int | None = None) -> list[Document]:
    """The newswire of a language, the first `most` documents of it."""
    documents = []
    for place, paragraphs in enumerate(islice(library.world.newswire(language), most)):
        named = [mention for sentence in paragraphs[0] for mention in sentence.mentions]
        names = {library.world.entities[mention.entity].names[language]: None for mention in named[:2]}
        documents.append(Document(place, " ".join(names), tuple(paragraphs)))
    return documents


class Writer:
    """What the layouts of one collection share: its documents' texts and ids, its topics and its judgments."""

    def __init__(self, library: Library, language: str, documents: Sequence[Document]) -> None:
        self.world, self.language, self.documents = library.world, language, documents
        self.between = library.between(language)
        topics = self._topics()
        self.topics, self.all_topics = topics[:TOPICS], topics

    def _topics(self) -> list[Topic]:
        """Facts about entities of the test split that some document tells, each asked once."""
        world, grammar = self.world, self.world.grammars[self.language]
        telling: dict[Fact, list[int]] = {}
        for document in self.documents:
            for fact in document.facts():
                telling.setdefault(fact, []).append(document.place)
        asked = [
            fact
            for id_, entity in world.entities.items()
            if entity.split == "test"
            for fact in world.facts.of[id_][1:]
            if fact in telling
        ]
        topics = []
        for fact in stream(world.seed, "topics", self.language).shuffled(asked)[: TOPICS + UNASKED]:
            draws = stream(world.seed, "topic", self.language, fact.subject, fact.relation)
            relation = world.concepts.relation(fact.relation)
            word = grammar.lexicon.word(relation.name, draws)
            keywords = f"{world.entities[fact.subject].names[self.language]} {word}"
            topics.append(Topic(len(topics) + 1, keywords, grammar.question(fact, draws), telling[fact]))
        return topics

    def text(self, document: Document, mark: str = "") -> str:
        """A document's paragraphs a line each, `mark` before each of them."""
        told = (self.between.join(s.text for s in paragraph) for paragraph in document.paragraphs)
        return "\n".join(f"{mark}{html.escape(text, quote=False)}" for text in told)

    def records(self, name: Callable[[int], str], one: Callable[[str, str, str], str], mark: str = "") -> list[str]:
        """All documents in a layout, `one(id, headline, text)`; besides an empty one and a cut copy of another."""
        made = [one(name(d.place), html.escape(d.headline, quote=False), self.text(d, mark)) for d in self.documents]
        cut = self.documents[2]
        again = one(name(2), html.escape(cut.headline, quote=False), self.text(cut, mark)[:40])
        return [*made[:2], again, *made[2:], one(name(len(self.documents)), "", "")]

    def qrels(self, name: Callable[[int], str], number: Callable[[Topic], str], topics: Sequence[Topic]) -> bytes:
        """Judgments: all that is relevant, some that is not, and one of a document that is not there."""
        lines = []
        for topic in topics:
            draws = stream(self.world.seed, "judged", self.language, topic.number)
            others = {draws.integer(len(self.documents)) for _ in range(NOT_RELEVANT)} - {*topic.relevant}
            judged = {**dict.fromkeys(topic.relevant, 1), **dict.fromkeys(others, 0), len(self.documents) + 7: 0}
            lines += [f"{number(topic)} 0 {name(place)} {value}\n" for place, value in sorted(judged.items())]
        return "".join(lines).encode()

    def tsv(self, number: Callable[[Topic], str], title: Callable[[Topic], str]) -> bytes:
        return "".join(f"{number(topic)}\t{title(topic)}\n" for topic in self.topics).encode()


def ntcir8_zh(own: Writer) -> Files:
    """Gigaword: a gzipped file a month, `<DOC id=...>`, paragraphs in <P>; topics are questions."""

    def name(place: int) -> str:
        return f"XIN_CMN_2002{1 + place // 200 % 12:02}01.{place:04}"

    def one(id_: str, headline: str, text: str) -> str:
        body = "".join(f"<P>\n{line}\n</P>\n" for line in text.splitlines())
        return f'<DOC id="{id_}" type="story" >\n<HEADLINE>\n{headline}\n</HEADLINE>\n<TEXT>\n{body}</TEXT>\n</DOC>\n'

    def number(topic: Topic) -> str:
        return f"ACLIA2-CS-{topic.number:04}"

    later = one("XIN_CMN_20060101.0001", "", own.text(own.documents[0]))
    return {
        "xin_cmn_200201.gz": "".join(own.records(name, one)).encode(),
        "xin_cmn_200601.gz": later.encode(),  # of the same discs, and not of the collection
        "topics.ntcir8zh.eval.txt": own.tsv(number, lambda topic: topic.question),
        "qrels.ntcir8.eval.txt": own.qrels(name, number, own.all_topics),
    }


def trec2002_ar(own: Writer) -> Files:
    """AFP: a gzipped file a day; topics in ISO-8859-6, AR1 for topic 1 of the judgments."""

    def name(place: int) -> str:
        return f"19940513_AFP_ARB.{place:04}"

    def one(id_: str, headline: str, text: str) -> str:
        body = "".join(f"<P>\n{line}\n</P>\n" for line in text.splitlines())
        return (
            f"<DOC>\n<DOCNO>{id_}</DOCNO>\n<HEADER>ara afp\n</HEADER>\n<BODY>\n<HEADLINE> {headline} </HEADLINE>\n"
            f"<TEXT>\n{body}</TEXT>\n<FOOTER>afp</FOOTER>\n</BODY>\n</DOC>\n"
        )

    topics = "".join(
        f"<top>\n\n<num> Number: AR{t.number}\n<title>  {t.keywords} \n\n<desc> Description: \n{t.question}\n\n"
        f"<narr> Narrative:  \n{t.question}\n\n</top>\n\n"
        for t in own.topics
    )
    return {
        "1994/19940513_AFP_ARB.sgm.gz": "".join(own.records(name, one)).encode(),
        f"{NIST}/topics_noneng/CL.topics.arabic.trec11.txt": legacy(topics, "iso-8859-6"),
        f"{NIST}/qrels_noneng/qrels.trec11.xlingual.txt": own.qrels(name, lambda t: str(t.number), own.all_topics),
    }


def clef2006_fr(own: Writer) -> Files:
    """Le Monde and ATS, each with tags of its own, in ISO-8859-1; Anserini's topics."""
    half = len(own.documents) // 2

    def name(place: int) -> str:
        return f"LEMONDE94-{place:06}-19940101" if place < half else f"ATS.940101.{place:04}"

    def one(id_: str, headline: str, text: str) -> str:
        lead, _, rest = text.partition("\n")
        if id_.startswith("LEMONDE"):
            body = f"<TITLE>{headline}</TITLE>\n<LEAD1>\n{lead}\n</LEAD1>\n<TEXT>\n{rest}\n</TEXT>\n"
        else:
            body = f"<TI>{headline}</TI>\n<LD>{lead}</LD>\n<TX>{rest}</TX>\n"
        return f"<DOC>\n<DOCNO>{id_}</DOCNO>\n<DOCID>{id_}</DOCID>\n<DATE>940101</DATE>\n{body}</DOC>\n"

    def number(topic: Topic) -> str:
        return f"{300 + topic.number}-AH"

    records = own.records(name, one)
    papers = {"lemonde94/le_monde.sgml": "LEMONDE", "sda94/ats.sgml": "ATS"}
    return {
        **{
            file: legacy("".join(r for r in records if f"<DOCNO>{own_id}" in r), "iso-8859-1")
            for file, own_id in papers.items()
        },
        "topics.clef06fr.mono.fr.txt": own.tsv(number, lambda topic: topic.keywords),
        "qrels.clef06fr.txt": own.qrels(name, number, own.all_topics),
    }


def fire2012(language: str, first: str, second: str) -> Callable[[Writer], Files]:
    """FIRE: a file a document, of two newspapers; topics in closed tags."""

    def files(own: Writer) -> Files:
        def name(place: int) -> str:
            return f"{language}_{place:05}.utf8"

        def one(id_: str, headline: str, text: str) -> str:
            return f"<DOC>\n<DOCNO>{id_}</DOCNO>\n<TITLE>{headline}</TITLE>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n"

        records = own.records(name, one)
        papers = {n: first if 2 * n < len(records) else second for n in range(len(records))}
        topics = "".join(
            f"<top lang='{language}'>\n<num>{175 + t.number}</num>\n<title>{t.keywords}</title>\n"
            f"<desc>{t.question}</desc>\n<narr>{t.question}</narr>\n</top>\n\n"
            for t in own.topics
        )
        return {
            **{f"{papers[n]}/{n // 100}/{n:05}.txt": record.encode() for n, record in enumerate(records)},
            f"topics.fire12{language}.176-225.txt": f"<topics>\n{topics}</topics>\n".encode(),
            f"qrels.fire12{language}.176-225.txt": own.qrels(name, lambda t: str(175 + t.number), own.all_topics),
        }

    return files


def trec3_es(own: Writer) -> Files:
    """El Norte in ISO-8859-1, some texts not closed; topics with English lines, SP1 for topic 1 of the judgments."""

    def name(place: int) -> str:
        return f"SP94-{place:07}"

    def one(id_: str, headline: str, text: str) -> str:
        end = "" if id_.endswith("5") else "</TEXT>\n"
        return f"<DOC>\n<DOCNO> {id_} </DOCNO>\n<HEADLINE>\n\n{headline}\n</HEADLINE>\n<TEXT>\n{text}\n{end}</DOC>\n"

    topics = "".join(
        f"<top>\n\n<num> Number: SP{t.number}\n\n<title> Topic: {t.keywords}\n** In English\n\n"
        f"<desc> Description:\n{t.question}\n\n** In English, on two\nlines\n\n<narr> Narrative:\n{t.question}\n\n"
        f"** In English\n\n</top>\n\n"
        for t in own.topics
    )
    return {
        "ism_001": legacy("".join(own.records(name, one)), "iso-8859-1"),
        "af940512": legacy(one("AF940512-0001", "", own.text(own.documents[0])), "iso-8859-1"),  # of TREC-5
        f"{NIST}/topics_noneng/topics.SP1-SP25.spanish.english.gz": legacy(topics, "iso-8859-1"),
        f"{NIST}/qrels_noneng/qrels.1-25.spanish.gz": own.qrels(name, lambda topic: str(topic.number), own.all_topics),
    }


def legacy(text: str, encoding: str) -> bytes:
    """Text in an encoding of its time; what that lacks becomes an entity."""
    return text.encode(encoding, "xmlcharrefreplace")


COLLECTIONS: dict[str, tuple[str, Callable[[Writer], Files]]] = {
    "zh": ("ntcir8_zh", ntcir8_zh),
    "ar": ("trec2002_ar", trec2002_ar),
    "fr": ("clef2006_fr", clef2006_fr),
    "hi": ("fire2012_hi", fire2012("hi", "hi_AmarUjala", "hi_NavbharatTimes")),
    "bn": ("fire2012_bn", fire2012("bn", "bn_ABP", "bn_BDNews24")),
    "es": ("trec3_es", trec3_es),
}
