"""The United Nations Parallel Corpus v1.0: documents in TEI, an archive a language in parts, and the six-way list.

Format: the corpus as public readers of it find it. `UNv1.0-TEI.en.tar.gz` is cut into `.00`, `.01`, ...; its members
are `UNv1.0-TEI/en/{year}/{symbol}.xml`, the same paths in every language, with a header (symbol, date, a disclaimer in
paragraphs of its own) and a body of numbered paragraphs and sentences. `UNv1.0.6way.ids` has a line for each sentence
that all languages have: its document, and the numbers that it has in each.

As in the real one some documents lack in a language, and one has no text.
"""

from __future__ import annotations

import gzip
import html

from stele.catalogue.datasets import dataset, languages_of
from stele_world.content.draws import stream
from stele_world.content.model import Article
from stele_world.writers.library import Library
from stele_world.writers.site import Site, tar_of

DATASET = "uncorpus"
LACKING = 0.05  # of a language's documents
PARTS = 2  # of an archive
PARAGRAPH = 3  # sentences


def write(site: Site, library: Library) -> None:
    """Writes those of its languages that the world has, where they make a pair."""
    world = library.world
    languages = [code for code in languages_of(dataset(DATASET)) if code in world.languages]
    if len(languages) < 2:
        return
    lacking: set[str] = set()
    for code in languages:
        articles = {path_of(n): article for n, article in enumerate(world.translated_documents(code))}
        own = {name for name in articles if stream(world.seed, "uncorpus lacks", code, name).chance(LACKING)}
        members = {
            f"UNv1.0-TEI/{code}/{name}.xml": document(article, name, code, empty=not n).encode()
            for n, (name, article) in enumerate(articles.items())
            if name not in own
        }
        lacking |= {*own, *list(articles)[:1]}  # the first is the empty one
        packed = gzip.compress(tar_of(members), 5, mtime=0)
        size = -(-len(packed) // PARTS)
        for part in range(PARTS):
            name = f"UNv1.0-TEI.{code}.tar.gz.{part:02d}"
            site.put_licensed(DATASET, name, packed[part * size : (part + 1) * size])
    lines = [
        "\t".join([name, *(f"{code}:{number}" for code in languages)])
        for name, article in articles.items()
        if name not in lacking
        for number, _ in numbered(article)
    ]
    site.put_licensed(DATASET, "UNv1.0.6way.ids", "".join(f"{line}\n" for line in lines).encode())
    site.count(DATASET, documents=len(articles) - len(lacking))


def path_of(number: int) -> str:
    """Where document `number` lies in every language: year, then its symbol.

    >>> path_of(37)
    '1991/a/46/37'
    """
    session = number // 25
    return f"{1990 + session}/a/{45 + session}/{number}"


def numbered(article: Article) -> list[tuple[str, str]]:
    """(number, text) of the sentences of a document, numbered by paragraph: "2:1" is the first of the second."""
    return [
        (f"{1 + place // PARAGRAPH}:{1 + place % PARAGRAPH}", sentence.text)
        for place, sentence in enumerate(article.sentences())
    ]


def document(article: Article, name: str, language: str, empty: bool) -> str:
    """A document in TEI; an empty one has a paragraph without a sentence."""
    paragraphs: dict[str, list[str]] = {"1": []}
    for number, text in [] if empty else numbered(article):
        sentence = f'<s id="{number}" lang="{language}">{html.escape(text, quote=False)}</s>'
        paragraphs.setdefault(number.partition(":")[0], []).append(sentence)
    body = "\n".join(f'<p id="{number}">\n{chr(10).join(told)}\n</p>' for number, told in paragraphs.items())
    year, *symbol = name.split("/")
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<TEI.2>\n<teiHeader>\n<fileDesc>\n'
        f"<titleStmt>\n<title>{html.escape(article.title, quote=False)}</title>\n</titleStmt>\n"
        f"<publicationStmt>\n<publisher>generated</publisher>\n<date>{year}0101</date>\n"
        f'<idno type="symbol">{"/".join(symbol).upper()}</idno>\n'
        "<availability><p>The header is no text of the document.</p></availability>\n</publicationStmt>\n"
        f"</fileDesc>\n</teiHeader>\n<text>\n<body>\n{body}\n</body>\n</text>\n</TEI.2>\n"
    )
