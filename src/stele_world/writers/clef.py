"""CLEF 2000-2003: a folder a language with its newspapers in SGML, topics in that language, judgments of its documents.

Layouts: CLEF's guidelines and the collections' own tags. All is in ISO-8859-1; each newspaper has tags of its own, some
that are no text; topics have the same numbers in all languages and come in two files, as of two years, and so do
judgments. A topic is a fact that documents tell; where no document of a language does, it has no relevant one there.
"""

from __future__ import annotations

import html
from typing import NamedTuple

from stele_world.content.draws import stream
from stele_world.content.model import Fact
from stele_world.site import Site
from stele_world.writers.collections import Document, askable, judged, keywords_and_question, legacy, newswire, telling
from stele_world.writers.library import Library

DATASET, ENCODING = "clef", "iso-8859-1"
TOPICS, YEARS = 40, ("2000", "2001")
JUDGED = 12  # documents a topic, in each language, that are judged not to be relevant


class Paper(NamedTuple):
    """A newspaper: its file, how document n is called there, and the tags of headline, lead and text ("": none)."""

    file: str
    name: str
    headline: str
    lead: str
    text: str


PAPERS = {
    "de": (
        Paper("rundschau.sgml", "FR94{:04}-{:06}", "TITLE", "", "TEXT"),
        Paper("sda94_de.sgml", "SDA.94{:04}.{:04}", "TI", "LD", "TX"),
    ),
    "en": (
        Paper("latimes94.sgml", "LA{:06}-{:04}", "HEADLINE", "", "TEXT"),
        Paper("glasgow95.sgml", "GH95{:04}-{:06}", "HEADLINE", "", "TEXT"),
    ),
    "es": (
        Paper("efe94.sgml", "EFE1994{:04}-{:05}", "TITLE", "", "TEXT"),
        Paper("efe95.sgml", "EFE1995{:04}-{:05}", "TITLE", "", "TEXT"),
    ),
    "fr": (
        Paper("lemonde94.sgml", "LEMONDE94-{:02}{:04}-19940101", "TITLE", "LEAD1", "TEXT"),
        Paper("ats94.sgml", "ATS.94{:04}.{:04}", "TI", "LD", "TX"),
    ),
}


def write_clef(site: Site, library: Library, topics: int = TOPICS) -> None:
    """Writes the languages that the world has, where they make a pair, with at most so many topics."""
    languages = [code for code in PAPERS if code in library.world.languages]
    if len(languages) < 2:
        return
    documents = {code: newswire(library, code) for code in languages}
    places = {code: telling(documents[code]) for code in languages}
    told = set().union(*places.values())
    facts = stream(library.world.seed, "clef").shuffled(askable(library.world, told))[:topics]
    for code in languages:
        for file, text in {
            **_papers(library, code, documents[code]),
            **_topics(library, code, facts),
            **_judgments(library, code, facts, places[code], len(documents[code])),
        }.items():
            site.put_licensed(DATASET, f"{code}/{file}", legacy(text, ENCODING))


def name_of(language: str, place: int) -> str:
    """The id of a document; even ones are of the first newspaper."""
    return PAPERS[language][place % 2].name.format(101, place)


def _papers(library: Library, language: str, documents: list[Document]) -> dict[str, str]:
    """The newspapers by their files."""
    between, files = library.between(language), {paper.file: [] for paper in PAPERS[language]}
    for document in documents:
        paper = PAPERS[language][document.place % 2]
        told = [between.join(s.text for s in paragraph) for paragraph in document.paragraphs]
        parts = [html.escape(text, quote=False) for text in told]
        headline = html.escape(document.headline, quote=False)
        lead = f"<{paper.lead}>{parts.pop(0)}</{paper.lead}>\n" if paper.lead and len(parts) > 1 else ""
        name, text = name_of(language, document.place), "\n".join(f"<P>\n{part}\n</P>" for part in parts)
        files[paper.file].append(
            f"<DOC>\n<DOCNO>{name}</DOCNO>\n<DOCID>{name}</DOCID>\n<DATE>940101</DATE>\n<KW>news</KW>\n"
            f"<{paper.headline}>{headline}</{paper.headline}>\n{lead}<{paper.text}>\n{text}\n</{paper.text}>\n</DOC>\n"
        )
    return {file: "".join(records) for file, records in files.items()}


def _year(number: int, topics: int) -> str:
    """The campaign that topic `number` (from 1) is of."""
    return YEARS[2 * (number - 1) >= topics]


def _topics(library: Library, language: str, facts: list[Fact]) -> dict[str, str]:
    """Title (a name and a verb), description (a question) and narrative, in tags that say the language."""
    world, code = library.world, language.upper()
    files = {year: "" for year in YEARS}
    for number, fact in enumerate(facts, start=1):
        draws = stream(world.seed, "clef topic", language, fact.subject, fact.relation)
        texts = keywords_and_question(world, language, fact, draws)
        title, question = (html.escape(text, quote=False) for text in texts)
        files[_year(number, len(facts))] += (
            f"<top>\n<num> C{number:03} </num>\n<{code}-title> {title} </{code}-title>\n"
            f"<{code}-desc> {question} </{code}-desc>\n<{code}-narr> {question} </{code}-narr>\n</top>\n\n"
        )
    return {f"topics-{language}-{year}.txt": text for year, text in files.items()}


def _judgments(
    library: Library, language: str, facts: list[Fact], places: dict[Fact, list[int]], size: int
) -> dict[str, str]:
    """Judgments of all relevant documents, some others, and for each campaign's first topic a missing document."""
    files = {year: "" for year in YEARS}
    for number, fact in enumerate(facts, start=1):
        draws, year = stream(library.world.seed, "clef judged", language, number), _year(number, len(facts))
        absent = None if files[year] else size + 7
        for place, value in judged(places.get(fact, []), size, JUDGED, draws, absent):
            files[year] += f"{number} 0 {name_of(language, place)} {value}\n"
    return {f"qrels_{language}_{year}.txt": text for year, text in files.items()}
