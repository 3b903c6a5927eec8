"""Knowledge bases of generated wikis and real excerpts are those that a few lines of Python make of the Documents."""

from collections import Counter
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from wiki_links import knowledge_base, table_of_items

from stele.artifacts.documents import read_documents
from stele.artifacts.knowledge_base import links_path, symmetric_pairs
from stele.recipes.world import world_sizes
from stele_world.content.generate import generate
from stele_world.writers.dump import items_per_site, multistream
from stele_world.writers.library import Library
from stele_world.writers.wikipedia import pages_of
from tests.sealed import write_sealed

LANGUAGES = ["en", "hi", "ja", "th"]
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


@pytest.fixture(scope="module")
def library():
    return Library(generate(world_sizes({"entities": 60}), LANGUAGES, 1))


@pytest.mark.parametrize("language", LANGUAGES)
def test_knowledge_bases_of_generated_wikis_have_their_entities(tmp_path, library, language):
    folder = tmp_path / "dataset"
    folder.mkdir()
    dump, _, index = multistream(language, f"{language}wiki", pages_of(library, language))
    (folder / "xwiki-1-pages-articles-multistream.xml.bz2").write_bytes(dump)
    (folder / "xwiki-1-pages-articles-multistream-index.txt").write_bytes(index)
    write_sealed(folder / "record.json", {})
    rows = [(int(a.entity[1:]), f"{code}wiki", a.title) for code in LANGUAGES for a in library.articles(code)]
    base = knowledge_base(
        tmp_path, folder / "record.json", table_of_items(tmp_path / "items", items_per_site(sorted(rows))),
        language=language,
    )  # fmt: skip
    assert check(base, tmp_path / "documents/1") > 0
    about = {article.title: int(article.entity[1:]) for article in library.articles(language)}
    assert {title: entity for title, entity in base.entities.items() if entity is not None} == about
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
