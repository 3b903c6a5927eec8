"""Writer of CLEF 2000-2003: for each language a folder with newspapers in SGML, topics, and judgments of its documents.

Layouts: CLEF's guidelines and the collections' own tags. All files are in ISO-8859-1. Each newspaper has its own tags,
some around parts that are no text. Topics have the same numbers in all languages; topics and judgments come in two
files, one for each of two campaigns. A topic is a fact that documents state; it has no relevant document in languages
without one.
"""

import html
from collections import defaultdict

from stele_world.content.draws import stream
from stele_world.content.model import Fact
from stele_world.site import Site
from stele_world.writers.collections import (
    OUTSIDE,
    Document,
    Paper,
    askable,
    escaped,
    judged,
    keywords_and_question,
    layouts,
    newswire,
    telling,
)
from stele_world.writers.library import Library, filled

DATASET, ENCODING = "clef", "iso-8859-1"
TOPICS, YEARS = 40, ("2000", "2001")
JUDGED = 12  # documents per topic and language that are judged not relevant


def write_clef(site: Site, library: Library, topics: int = TOPICS) -> None:
    """Writes the world's languages, if they make a pair, with at most `topics` topics."""
    languages = [code for code in layouts().clef.papers if code in library.world.languages]
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
            site.put_licensed(DATASET, f"{code}/{file}", text.encode(ENCODING, OUTSIDE))


def name_of(language: str, place: int) -> str:
    """Id of a document; newspapers take turns."""
    return _paper(language, place).id % place


def _paper(language: str, place: int) -> Paper:
    papers = layouts().clef.papers[language]
    return papers[place % len(papers)]


def _papers(library: Library, language: str, documents: list[Document]) -> dict[str, str]:
    between, files = library.between(language), defaultdict(str)
    for document in documents:
        paper, (place, headline, text) = _paper(language, document.place), escaped(document, between)
        values = {"paper": paper, "id": name_of(language, place), "headline": headline, "lines": text}
        files[paper.file] += filled(layouts().clef.document, **values)
    return files


def _year(number: int, topics: int) -> str:
    return YEARS[2 * (number - 1) >= topics]


def _topics(library: Library, language: str, facts: list[Fact]) -> dict[str, str]:
    """Topic files: title (a name and a verb), description (a question), narrative, in the language's tags."""
    world, of_year = library.world, {year: [] for year in YEARS}
    for number, fact in enumerate(facts, start=1):
        draws = stream(world.seed, "clef topic", language, fact.subject, fact.relation)
        texts = keywords_and_question(world, language, fact, draws)
        keywords, question = (html.escape(text, quote=False) for text in texts)
        topic = {"id": f"C{number:03}", "keywords": keywords, "question": question}
        of_year[_year(number, len(facts))].append(topic)
    template, code = layouts().clef.topics, language.upper()
    return {f"topics-{language}-{year}.txt": filled(template, code=code, topics=t) for year, t in of_year.items()}


def _judgments(
    library: Library, language: str, facts: list[Fact], places: dict[Fact, list[int]], size: int
) -> dict[str, str]:
    """Judgments of all relevant documents, of some others, and of a missing one per campaign's first topic."""
    files = {year: "" for year in YEARS}
    for number, fact in enumerate(facts, start=1):
        draws, year = stream(library.world.seed, "clef judged", language, number), _year(number, len(facts))
        absent = None if files[year] else size + 7
        for place, value in judged(places.get(fact, []), size, JUDGED, draws, absent):
            files[year] += f"{number} 0 {name_of(language, place)} {value}\n"
    return {f"qrels_{language}_{year}.txt": text for year, text in files.items()}
