"""Small wikis by hand: their documents, and their knowledge bases without the command that makes those."""

import json
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from mining_texts import record

from stele.artifacts import records
from stele.artifacts.documents import Document, DocumentWriter, Section
from stele.artifacts.knowledge_base import LINKS, LINKS_SCHEMA, PAGES, PAGES_SCHEMA
from stele.files.digests import files_digest


@dataclass
class Article:
    """A page; `links` are (sentence, number of the page linked to), `sections` (heading, sentence) or sentences."""

    sentences: list[str]
    links: list[tuple[int, int]] = field(default_factory=list)
    entity: int | None = None
    sections: tuple[int | tuple[str, int], ...] = ()


def documents(folder, language, articles, shards=1):
    """Writes the articles as so many shards; their records in order."""
    bounds = np.linspace(0, len(articles), shards + 1).astype(int).tolist()
    sources = []
    for n, (begin, end) in enumerate(pairwise(bounds)):
        (shard := folder / f"{language}{n}").mkdir(parents=True)
        with DocumentWriter(shard) as writer:
            for number in range(begin, end):
                article = articles[number]
                sections = tuple(
                    Section(*one) if isinstance(one, tuple) else Section(f"section {one}", one)
                    for one in article.sections
                )
                writer.add(Document(language, str(number), article.sentences, [0], f"Page {number}", sections=sections))
        sources.append(record(shard, **writer.counts, labels=["generated data"], shard=n))
    return sources


def knowledge(folder, articles, sources):
    """Writes the knowledge base of articles whose documents are `sources`; its record."""
    folder.mkdir(parents=True)
    pages = [(n, str(n), f"Page {n}", a.entity, len(a.sentences)) for n, a in enumerate(articles)]
    links = sorted({(n, *link) for n, article in enumerate(articles) for link in article.links if link[1] != n})
    for name, schema, rows in ((PAGES, PAGES_SCHEMA, pages), (LINKS, LINKS_SCHEMA, links)):
        columns = zip(*rows, strict=True) if rows else [[]] * len(schema)
        pq.write_table(
            pa.table([pa.array(list(c), f.type) for c, f in zip(columns, schema, strict=True)], schema=schema),
            folder / name,
        )
    path = folder / "record.json"
    inputs = {f"documents:{n}": source for n, source in enumerate(sources, 1)}
    records.write_record(path, job="made", inputs=inputs, content=files_digest(folder))
    return path


def part_words(recipe, sources, bases, seed, output):
    """The words of a command line that mines a part with these documents and knowledge bases."""
    return [
        *("--recipe", json.dumps(recipe), "--part", "-".join(sorted(bases)), "--seed", str(seed)),
        *("--knowledge-base", *(f"{code}={path}" for code, path in bases.items())),
        *("--documents", *(f"{code}={','.join(map(str, paths))}" for code, paths in sources.items())),
        *("--output", str(output)),
    ]


def text(name, words=6, sentence=0):
    """A sentence whose words say where it stands."""
    return " ".join(f"{name}{sentence}{chr(97 + n % 26)}word{n}" for n in range(words)) + "."


def random_wiki(language, pages, seed, links=4, entities=None, longest=30):
    """Articles of random lengths; each sentence links to up to `links` pages, `entities` (or pages) are there."""
    rng = np.random.default_rng(seed)
    about = rng.permutation(max(pages, entities or pages)).tolist()
    articles = []
    for number in range(pages):
        size = int(rng.integers(1, 12))
        sentences = [text(f"{language}{number}s", int(rng.integers(3, longest)), n) for n in range(size)]
        targets = [(n, int(t)) for n in range(size) for t in rng.integers(0, pages, rng.integers(0, links + 1))]
        entity = about[number] if rng.random() < 0.9 else None
        articles.append(Article(sentences, targets, entity, (int(rng.integers(0, size)),) if size > 2 else ()))
    return articles
