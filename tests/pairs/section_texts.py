"""Section pairs by hand: pages with headings, vectors of their words, and the command as a function."""

import json
import re
from types import SimpleNamespace

import pyarrow.parquet as pq
from knowledge_texts import Article, documents, knowledge, part_words, text
from mining_texts import record

from stele.pairs import section_pairs
from tests.jobs import job

# vectors of four numbers; those of the words beside one another: history and historia 1, career and trayectoria .96,
# career and historia .8, life and trayectoria .8, career and vida .6, edge and historia .3 exactly
WORDS = {
    "en": {"history": "1 0 0 0", "life": "0 1 0 0", "career": ".8 .6 0 0", "works": "0 0 1 0", "edge": "3 9 3 1"},
    "es": {"historia": "1 0 0 0", "vida": "0 2 0 0", "trayectoria": ".6 .8 0 0", "obra": "0 0 1 0", "la": "0 0 0 1"},
}
STOP_WORDS = {"en": "EN_PLUS", "es": "SPANISH"}


def page(name, entity, *sections):
    """A page of (heading, sentences) in order; the heading None is the lead."""
    sentences, headings = [], []
    for heading, size in sections:
        if heading is not None:
            headings.append((heading, len(sentences)))
        sentences += [text(name, 3, len(sentences) + n) for n in range(size)]
    return Article(sentences, entity=entity, sections=tuple(headings))


WIKIS = {
    "en": [
        page("plain", 1, (None, 2), ("History", 5), ("Life", 6), ("Career", 5)),
        page("conflict", 2, (None, 1), ("Life", 5), ("Career", 6)),
        page("tied", 3, ("History", 5), ("history!", 7)),
        page("short", 4, ("Works", 4), ("History", 2), ("Career", 6)),
        page("unknown", 5, (None, 9), ("Zzz", 8), ("Life", 0), ("The early LIFE", 5), ("Of the", 5), ("Edge", 5)),
        page("alone", 6, ("History", 5)),
    ],
    "es": [
        page("llano", 1, ("Trayectoria", 5), ("Historia", 5), ("Vida", 5)),
        page("conflicto", 2, (None, 3), ("Trayectoria", 5)),
        page("empate", 3, (None, 3), ("Historia", 5), ("La historia", 6)),
        page("corta", 4, ("Obra", 9), ("Historia", 5)),
        page("desconocido", 5, ("Historia", 5), ("Vida", 5), ("Qqq", 5)),
        page("otra", 7, ("Historia", 5)),
    ],
}
# (heading and its sentences, the same of the other page, cosine), by hand
PAIRS = {
    (("History", 5), ("Historia", 5), 1.0, "plain"),
    (("Life", 6), ("Vida", 5), 1.0, "plain"),
    (("Career", 5), ("Trayectoria", 5), 0.96, "plain"),
    (("Career", 6), ("Trayectoria", 5), 0.96, "conflict"),  # and not Life, .8
    (("History", 5), ("Historia", 5), 1.0, "tied"),  # all four are equal: the earlier sections first
    (("history!", 7), ("La historia", 6), 1.0, "tied"),
    (("The early LIFE", 5), ("Vida", 5), 1.0, "unknown"),  # Edge and Historia: .3 is not above .3
}
SHORT = 2  # Works and Obra; History and Historia, of which Career, .8, does not get the second in its place


def vectors(folder, words):
    """A file of vectors with its record."""
    folder.mkdir(parents=True)
    lines = [f"{len(words)} {len(next(iter(words.values())).split())}", *(f"{word} {v}" for word, v in words.items())]
    (folder / "wiki.align.vec").write_text("".join(f"{line}\n" for line in lines))
    return record(folder, labels=["generated data"])


def given(place, wikis=WIKIS, words=WORDS, shards=1):
    """The documents, knowledge bases and vectors of wikis."""
    sources = {code: documents(place / "documents", code, pages, shards) for code, pages in wikis.items()}
    bases = {code: knowledge(place / f"base-{code}", pages, sources[code]) for code, pages in wikis.items()}
    return sources, bases, {code: vectors(place / f"vectors-{code}", words[code]) for code in wikis}


def command(place, wikis=WIKIS, words=WORDS, *, seed=3, shards=1, **recipe):
    """Runs `pairs section_pairs`; the record, its path, and (section, section, cosine, page) of each pair in order."""
    return run(place, *given(place, wikis, words, shards), seed, **recipe)


def run(place, sources, bases, files, seed=3, **recipe):
    recipe = {"method": "section", "stop_words": STOP_WORDS, **recipe}
    output = place / "pairs" / "record.json"
    options = ["--vectors", *(f"{code}={path}" for code, path in files.items())]
    section_pairs.run(job(section_pairs, [*part_words(recipe, sources, bases, seed, output), *options]))
    sections = pq.read_table(output.parent / "sections.parquet").to_pylist()
    rows = pq.read_table(output.parent / "pairs.parquet").to_pylist()
    pairs = [
        (*(_shown(sections[row[side]]) for side in ("first", "second")), row["similarity"], _page(sections, row))
        for row in rows
    ]
    record = json.loads(output.read_text())
    return SimpleNamespace(path=output, folder=output.parent, record=record, pairs=pairs, sections=sections, rows=rows)


def _shown(section):
    return section["heading"], len(section["sentences"])


def _page(sections, row):
    """The name in the sentences of the first section's page."""
    return re.match("[a-z]+", sections[row["first"]]["sentences"][0])[0]
