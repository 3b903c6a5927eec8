"""Generated dumps and web texts of every kind of script come back as the sentences that the world was told in."""

from contextlib import ExitStack
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest

from stele.corpora.dumps.dump_files import find_dump
from stele.corpora.dumps.xml_dump import read_dump
from stele.corpora.wikipedia import Aside
from stele.corpora.wikipedia import documents as wikipedia_documents
from stele.recipes.world import world_sizes
from stele.text.sentences import tidy
from stele_world.content.generate import generate
from stele_world.writers.dump import multistream
from stele_world.writers.library import Library
from stele_world.writers.wikipedia import pages_of

LANGUAGES = ["en", "ar", "bn", "el", "hi", "ja", "ko", "ru", "te", "th", "zh"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """For each language: its articles as generated, the Documents and redirects read from its dump."""
    library = Library(generate(world_sizes({"entities": 60}), LANGUAGES, 1))
    collected = {}
    for language in LANGUAGES:
        folder = tmp_path_factory.mktemp(language)
        pages = pages_of(library, language)
        dump, _, index = multistream(language, "xwiki", pages)
        (folder / "xwiki-1-pages-articles-multistream.xml.bz2").write_bytes(dump)
        (folder / "xwiki-1-pages-articles-multistream-index.txt").write_bytes(index)
        with ExitStack() as stack:
            aside = Aside(folder, stack)
            read = list(wikipedia_documents(read_dump(find_dump(folder)), language, aside))
        articles = {article.title: article for article in library.articles(language)}
        collected[language] = SimpleNamespace(
            articles=articles, documents=read, rejects=aside.rejects, pages=pages, folder=folder
        )
    return collected


@pytest.mark.parametrize("language", LANGUAGES)
def test_articles_come_back_as_they_were_told(world, language):
    wiki = world[language]
    assert not wiki.rejects and {d.title for d in wiki.documents} >= set(wiki.articles)
    for document in wiki.documents:
        if document.title not in wiki.articles:
            continue
        article = wiki.articles[document.title]
        paragraphs = [[tidy(sentence.text) for sentence in paragraph] for paragraph in article.paragraphs()]
        ends = [*document.paragraphs[1:], len(document.sentences)]
        read = [document.sentences[a:b] for a, b in zip(document.paragraphs, ends, strict=True)]
        if language == "th":  # sentences without full stops: what is read is the same text, cut less often
            assert ["".join(p).replace(" ", "") for p in read] == ["".join(p).replace(" ", "") for p in paragraphs]
        else:
            assert read == paragraphs, document.title
        assert [s.title for s in document.sections] == [s.title for s in article.sections if s.title]


@pytest.mark.parametrize("language", LANGUAGES)
def test_links_lead_to_the_entities_that_the_sentences_link(world, language):
    wiki = world[language]
    redirects = {row["title"]: row["target"] for row in pq.read_table(wiki.folder / "redirects.parquet").to_pylist()}
    assert redirects == {page.title: page.redirect for page in wiki.pages if page.redirect}
    titles = {article.entity: title for title, article in wiki.articles.items()}
    number = 0
    for document in wiki.documents:
        if article := wiki.articles.get(document.title):
            wanted = [titles[link.entity] for sentence in article.sentences() for link in sentence.links]
            assert [redirects.get(link.target, link.target) for link in document.links] == wanted
            number += len(wanted)
    assert number > 20
