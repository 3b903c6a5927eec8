"""Generated dumps of every kind of script come back as the sentences that the world was told in, linked as there.

Knowledge bases of them and of real excerpts are those that a few lines of Python make of the Documents.
"""

from collections import Counter
from contextlib import ExitStack
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from wiki_links import knowledge_base, table_of_items

from stele.artifacts.documents import read_documents
from stele.artifacts.knowledge_base import links_path, symmetric_pairs
from stele.corpora.dumps.dump_files import find_dump
from stele.corpora.dumps.xml_dump import read_dump
from stele.corpora.wikipedia import Aside
from stele.corpora.wikipedia import documents as wikipedia_documents
from stele.recipes.world import world_sizes
from stele.text.sentences import tidy
from stele_world.content.generate import generate
from stele_world.writers.dump import items_per_site, multistream
from stele_world.writers.library import Library
from stele_world.writers.wikipedia import pages_of
from tests.sealed import write_sealed

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


# --- knowledge bases of generated wikis and real excerpts -------------------------------------------------------------
# pages, redirects, links found, resolved directly, through redirects, to the page itself, kept; symmetric pairs of
# sentences
REAL = {"en": (106, 99, 22606, 109, 0, 7, 101, 16), "ltg": (894, 147, 5512, 2200, 63, 10, 2243, 342)}


def resolved(folder):
    """(page, sentence, target) of all links as sets make it, and how often each way was gone."""
    documents = list(read_documents(folder / "record.json"))
    first = {}
    for number, document in enumerate(documents):
        first.setdefault(document.title, number)
    redirects = {}
    for row in pq.read_table(folder / "redirects.parquet").to_pylist():
        redirects.setdefault(row["title"], row["target"])
    links, counts = set(), Counter()
    for number, document in enumerate(documents):
        for link in document.links:
            title, seen = link.target, set()
            while title not in first and title in redirects and title not in seen:
                seen.add(title)
                title = redirects[title]
            if title not in first:
                counts["unresolved"] += 1
                continue
            counts["redirected" if seen else "direct"] += 1
            if first[title] in (number, first[document.title]):
                counts["to_itself"] += 1
            else:
                links.add((number, link.sentence, first[title]))
    return sorted(links), counts


def symmetric(links):
    """Pairs of sentences that link to each other's pages, by the links of each pair of pages."""
    between = {}
    for page, sentence, target in links:
        between.setdefault((page, target), []).append(sentence)
    return sorted((a, i, b, j) for (a, b) in between if a < b for i in between[a, b] for j in between.get((b, a), ()))


def check(base, folder):
    """The knowledge base against the reference; gives the number of symmetric pairs."""
    links, counts = resolved(folder)
    actual = base.record["links"]
    assert base.rows == links and actual["kept"] == len(links)
    assert counts["unresolved"] == sum(actual["unresolved"].values())
    assert {key: counts[key] for key in ("direct", "redirected", "to_itself")} == {
        key: actual[key] for key in ("direct", "redirected", "to_itself")
    }
    assert actual["found"] == counts["unresolved"] + actual["direct"] + actual["redirected"]
    assert actual["direct"] + actual["redirected"] == actual["kept"] + actual["to_itself"] + actual["repeated"]
    batches = symmetric_pairs(links_path(base.path), 256, 1, base.path.parent / "spill")
    pairs = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert pairs == symmetric(links)
    return len(pairs)


@pytest.mark.parametrize("language", ["en", "hi", "ja", "th"])
def test_knowledge_bases_of_generated_wikis_have_their_entities(tmp_path, world, language):
    record = write_sealed(world[language].folder / "record.json", {})
    entities = {code: {title: int(a.entity[1:]) for title, a in world[code].articles.items()} for code in LANGUAGES}
    rows = [(entity, f"{code}wiki", title) for code, of in entities.items() for title, entity in of.items()]
    items = table_of_items(tmp_path / "items", items_per_site(sorted(rows)))
    base = knowledge_base(tmp_path, record, items, language=language)
    assert check(base, tmp_path / "documents/1") > 0
    assert {title: entity for title, entity in base.entities.items() if entity is not None} == entities[language]
    assert base.record["links"]["redirected"] > 0


@pytest.mark.parametrize("language", REAL)
def test_knowledge_bases_of_real_excerpts_have_their_counts(real_data, tmp_path, language):
    folder = tmp_path / "dataset"
    folder.mkdir()
    for path in (real_data / "wikipedia_dumps").glob(f"{language}wiki*"):
        (folder / path.name).symlink_to(path)
    write_sealed(folder / "record.json", {})
    items = table_of_items(tmp_path / "items", items_per_site([(64, "dewiki", "Berlin")]))
    base = knowledge_base(tmp_path, folder / "record.json", items, language=language)
    pairs = check(base, tmp_path / "documents/1")
    record = SimpleNamespace(**base.record, **base.record["links"])
    links = (record.found, record.direct, record.redirected, record.to_itself, record.kept)
    assert (record.pages, record.redirects, *links, pairs) == REAL[language]
