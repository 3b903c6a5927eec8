"""Ten pages of wikitext, worked by hand: from the dump and Wikidata's table through every command to the pairs.

Redirects (a chain of two, one that differs in its first letter), links of a page to itself, links in infoboxes and
footnotes, which are no text, and a page with two entities.
"""

import gzip
import json
from itertools import product
from xml.sax.saxutils import escape

import pyarrow.parquet as pq
import pytest

from stele.command import cli
from stele_world.writers.dump import items_per_site
from tests.sealed import write_sealed

ENGLISH = [
    ("Vincent van Gogh", "{{Infobox artist|movement=[[Paris]]|friend=[[Louvre]]}}\nHe was a Dutch painter. He painted "
     "[[Sunflowers (series)|sunflowers]] in [[Arles]].\n\n== Life ==\nHe moved to [[Paris]] to meet "
     "[[Paul Gauguin|Gauguin]]. [[Vincent van Gogh|He]] died young."),
    ("Van Gogh", "#REDIRECT [[Vincent van Gogh]]"),
    ("Sunflowers (series)", "Sunflowers are paintings by [[van Gogh]]. They hang in [[Paris]]."),
    ("Arles", "{{Infobox city|guest=[[Vincent van Gogh]]}}\nArles is a city in the south."),
    ("Paul Gauguin", "Gauguin knew [[Vincent van Gogh#Life|Vincent]] well. He left for [[Tahiti]]."),
    ("Paris", "Paris is the capital. The [[Louvre]] is there. Many painters lived there, also [[Paul Gauguin]]."),
    ("Tahiti", "Tahiti is an island. [[Gauguin]] painted there. Later [[Paul Gauguin]] died near it."),
    ("Gauguin", "#REDIRECT [[Paul Gauguin]]"),
    ("Louvre", "The Louvre is a museum of the [[City of Light]]. It is very large."),
    ("City of Light", "#REDIRECT [[Capital of France]]"),
    ("Capital of France", "#REDIRECT [[Paris]]"),
    ("Louvre Museum", "#REDIRECT [[Louvre]]"),
    ("Museum", "A museum shows things. See also [[Museum]] and [[Nowhere]]."),
    ("Tower", "The tower stands in the city.<ref>In [[Paris]].</ref> It is high."),
    ("Sunflower", "The sunflower is a plant. It is not the [[Sunflowers (series)]]."),
]  # fmt: skip
FRENCH = [
    ("Vincent van Gogh", "Peintre néerlandais très connu. Il vécut un temps à [[Paris]]."),
    ("Paris", "Paris est la capitale de la France."),
    ("Ville Lumière", "La Ville Lumière est un surnom."),
    ("Musée du Louvre", "Le Louvre est un musée.\n\n== Histoire ==\nIl fut un château des rois."),
    ("Tahiti", "Tahiti est une île lointaine."),
]  # fmt: skip
ITEMS = [
    (5582, "enwiki", "Vincent van Gogh"), (5582, "frwiki", "Vincent van Gogh"), (90, "enwiki", "Paris"),
    (90, "frwiki", "Paris"), (999, "enwiki", "City of Light"), (999, "frwiki", "Ville Lumière"),
    (19675, "enwiki", "Louvre Museum"), (19675, "frwiki", "Musée du Louvre"), (7, "enwiki", "Tower"),
]  # fmt: skip

# what the pages are known by: sentences of the text above by (page, sentence), counted without the redirects
GOGH, SERIES, ARLES, GAUGUIN, PARIS, TAHITI, LOUVRE, MUSEUM, TOWER, PLANT = range(10)
SENTENCES = {
    (GOGH, 0): "He was a Dutch painter.", (GOGH, 1): "He painted sunflowers in Arles.",
    (GOGH, 2): "He moved to Paris to meet Gauguin.", (GOGH, 3): "He died young.",
    (SERIES, 0): "Sunflowers are paintings by van Gogh.", (SERIES, 1): "They hang in Paris.",
    (GAUGUIN, 0): "Gauguin knew Vincent well.", (GAUGUIN, 1): "He left for Tahiti.",
    (PARIS, 0): "Paris is the capital.", (PARIS, 1): "The Louvre is there.",
    (PARIS, 2): "Many painters lived there, also Paul Gauguin.",
    (TAHITI, 0): "Tahiti is an island.", (TAHITI, 1): "Gauguin painted there.",
    (TAHITI, 2): "Later Paul Gauguin died near it.",
    (LOUVRE, 0): "The Louvre is a museum of the City of Light.", (LOUVRE, 1): "It is very large.",
    (PLANT, 1): "It is not the Sunflowers (series).",
}  # fmt: skip
LEAD = {page: " ".join(text for (of, n), text in SENTENCES.items() if of == page and (page, n) not in
                       ((GOGH, 2), (GOGH, 3))) for page in (GOGH, SERIES, GAUGUIN, PARIS, TAHITI, LOUVRE)}  # fmt: skip
LIFE = "He moved to Paris to meet Gauguin. He died young."
PASSAGE = {key: LIFE if key in ((GOGH, 2), (GOGH, 3)) else LEAD[key[0]] for key in SENTENCES if key[0] != PLANT}
# equation 2, by hand: sentences that link to each other's pages
SYMMETRIC = [
    ((GOGH, 1), (SERIES, 0)),  # by a redirect, with a small first letter
    ((GOGH, 2), (GAUGUIN, 0)),  # to a section
    ((GAUGUIN, 1), (TAHITI, 1)),  # by a redirect
    ((GAUGUIN, 1), (TAHITI, 2)),
    ((PARIS, 1), (LOUVRE, 0)),  # by two redirects
]  # not Arles, whose link back is in an infobox; nor Van Gogh and Paris: the link from there is in none
LINKS = [  # sentence, page linked to: all but those within a page
    ((GOGH, 1), SERIES), ((GOGH, 1), ARLES), ((GOGH, 2), PARIS), ((GOGH, 2), GAUGUIN), ((SERIES, 0), GOGH),
    ((SERIES, 1), PARIS), ((GAUGUIN, 0), GOGH), ((GAUGUIN, 1), TAHITI), ((PARIS, 1), LOUVRE), ((PARIS, 2), GAUGUIN),
    ((TAHITI, 1), GAUGUIN), ((TAHITI, 2), GAUGUIN), ((LOUVRE, 0), PARIS), ((PLANT, 1), SERIES),
]  # fmt: skip
FRENCH_PASSAGES = {
    "gogh": ["Peintre néerlandais très connu. Il vécut un temps à Paris."],
    "paris": ["Paris est la capitale de la France."],
    "louvre": ["Le Louvre est un musée.", "Il fut un château des rois."],
}
ENGLISH_PASSAGES = {"gogh": [LEAD[GOGH], LIFE], "paris": [LEAD[PARIS]], "louvre": [LEAD[LOUVRE]]}


def command(*arguments):
    assert cli.main([*map(str, arguments)]) == 0


def dataset(folder, name, data):
    folder.mkdir(parents=True)
    (folder / name).write_bytes(data)
    return write_sealed(folder / "record.json", {"job": "sources dataset", "labels": ["generated data"]})


def dump(language, pages):
    """A plain dump; a redirect is one by its text and by its own element, as in MediaWiki's."""
    text = f'<mediawiki xml:lang="{language}"><siteinfo><dbname>{language}wiki</dbname><case>first-letter</case>'
    text += '<namespaces><namespace key="0" /></namespaces></siteinfo>\n'
    for number, (title, body) in enumerate(pages, 1):
        target = body.partition("[[")[2].removesuffix("]]") if body.startswith("#REDIRECT") else ""
        text += f"<page><title>{escape(title)}</title><ns>0</ns><id>{number}</id>"
        text += f'<redirect title="{escape(target)}" />' if target else ""
        text += f"<revision><id>1</id><model>wikitext</model><text>{escape(body)}</text></revision></page>\n"
    return (text + "</mediawiki>\n").encode()


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    """The documents and knowledge bases of both wikis."""
    place = tmp_path_factory.mktemp("ten_pages")
    items = dataset(place / "items", "wikidatawiki-1-wb_items_per_site.sql.gz", gzip.compress(items_per_site(ITEMS)))
    entities = place / "page_entities/record.json"
    command("corpora", "page_entities", "--dataset", items, "--wikis", "enwiki", "frwiki", "--output", entities)
    for language, pages in (("en", ENGLISH), ("fr", FRENCH)):
        source = dataset(place / f"dump-{language}", f"{language}wiki-1-pages-articles.xml", dump(language, pages))
        documents, base = (place / f"{kind}-{language}/record.json" for kind in ("documents", "base"))
        command("corpora", "wikipedia", "--language", language, "--dataset", source, "--output", documents)
        command(
            "corpora", "knowledge_base", "--language", language, "--wiki", f"{language}wiki", "--documents", documents,
            "--page-entities", entities, "--memory-mb", 1000, "--threads", 1, "--output", base,
        )  # fmt: skip
    return place


@pytest.fixture
def mined(bases, tmp_path):
    """mined(part, recipe keys...) -> the record and the set of (query, passage)."""

    def call(part, seed=1, **recipe):
        output = tmp_path / f"{recipe['method']}-{part}-{seed}/record.json"
        codes = part.split("-")
        command(
            "pairs", "knowledge_pairs", "--recipe", json.dumps({"min_characters": 5, **recipe}), "--part", part,
            "--knowledge-base", *(f"{code}={bases}/base-{code}/record.json" for code in codes),
            "--documents", *(f"{code}={bases}/documents-{code}/record.json" for code in codes),
            "--seed", seed, "--memory-mb", 1000, "--output", output,
        )  # fmt: skip
        rows = pq.read_table(output.parent / "pairs.parquet").to_pylist()
        return json.loads(output.read_text()), [(row["query"], row["passage"]) for row in rows]

    return call


def test_symmetrically_linked_sentences(mined):
    """Each of the five asks from one side or the other, as a coin decides: over 20 seeds, both."""
    collected = set()
    for seed in range(20):
        record, pairs = mined("en", seed, method="ilk")
        assert record["candidates"] == 5 == len(pairs) + record["dropped"].get("duplicates", 0)
        for one, other in SYMMETRIC:
            both_ways = {(SENTENCES[one], PASSAGE[other]), (SENTENCES[other], PASSAGE[one])}
            assert both_ways & set(pairs)
        collected |= set(pairs)
    assert collected == {(SENTENCES[a], PASSAGE[b]) for pair in SYMMETRIC for a, b in (pair, pair[::-1])}


def test_links_in_one_direction(mined):
    record, pairs = mined("en", method="uhs_ilk")
    top = {GOGH: [LEAD[GOGH], LIFE], ARLES: ["Arles is a city in the south."]}
    assert record["candidates"] == len(pairs) == len(LINKS)
    for sentence, page in LINKS:
        assert any((SENTENCES[sentence], passage) in pairs for passage in top.get(page) or [LEAD[page]])


def test_pages_of_one_entity(mined):
    """Three entities have a page in both; Paris has its own and not that of its redirect, the City of Light."""
    record, pairs = mined("en-fr", method="clk")
    want = {
        frozenset(texts) for name in FRENCH_PASSAGES for texts in product(ENGLISH_PASSAGES[name], FRENCH_PASSAGES[name])
    }
    assert set(map(frozenset, pairs)) == want and len(pairs) == len(want) == 2 + 1 + 2
    assert record["knowledge"]["en"] == {"pages": 10, "pages_with_entity": 4, "links": len(LINKS)}
    assert record["knowledge"]["fr"] == {"pages": 5, "pages_with_entity": 4, "links": 1}
    assert record["labels"] == ["generated data"]


def test_descriptions_of_linked_entities(mined):
    _, pairs = mined("en-fr", method="clhed")
    there = {GOGH: "gogh", PARIS: "paris", LOUVRE: "louvre"}
    want = [(SENTENCES[sentence], FRENCH_PASSAGES[there[page]]) for sentence, page in LINKS if page in there]
    want.append(("Il vécut un temps à Paris.", ENGLISH_PASSAGES["paris"]))
    assert len(pairs) == len(want) == 7
    assert all(any((sentence, passage) in pairs for passage in passages) for sentence, passages in want)
