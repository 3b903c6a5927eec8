"""MIRACL: passages of the Wikipedias in shards, topics, and judgments with explicit 0; MTEB's pools of it as Parquet.

Formats: miracl/miracl-corpus (docs-{n}.jsonl.gz, as many a language as upstream has), macavaney/miracl-noauth (topics
as id<TAB>text, judgments in TREC's layout, parted by tabs), mteb/MIRACLRetrievalHardNegatives ({language}-corpus,
{language}-queries, {language}-qrels). The passages and questions are Mr. TyDi's of the same world, as those of the real
sets overlap: its training questions train, its test questions are judged.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import NamedTuple

from stele import catalogue
from stele.catalogue.schema.datasets import Dataset
from stele.files.reading import JsonObject
from stele_world.writers.library import Library
from stele_world.writers.passages import Collection
from stele_world.writers.site import Site, jsonl

CORPUS = "https://huggingface.co/datasets/miracl/miracl-corpus/resolve/main/miracl-corpus-v1.0-{0}/docs-{1}.jsonl.gz"
FOLDER = "https://huggingface.co/datasets/macavaney/miracl-noauth/resolve/main/miracl-v1.0-{0}"
POOLS = (
    "https://huggingface.co/datasets/mteb/MIRACLRetrievalHardNegatives/resolve/d7d94fa4b946cec4a27c84653aa0cf6b33f74a3c"
    "/{0}-{1}/dev-00000-of-00001.parquet"
)
SPLITS = {"train": "train", "dev": "test"}  # of MIRACL -> of Mr. TyDi
QUESTIONS = {"train": 60, "dev": 40}  # at most
NOT_RELEVANT = 3  # judged 0 of a topic
POOLED = 8  # passages of a topic that the pool has, besides its judged ones


class _Topic(NamedTuple):
    name: str
    text: str
    judged: dict[int, int]  # number of a passage -> relevance
    pooled: list[int]


def write(site: Site, library: Library) -> None:
    entries = catalogue.entries(Dataset)
    shards, trained = entries["miracl_corpus"].files[0].shards or {}, entries["miracl_train"].languages or []
    for language in (code for code in library.world.languages if code in shards):
        collection = library.paragraphs(language)
        _write_passages(site, language, collection, shards[language])
        for split in ("train", "dev") if language in trained else ("dev",):
            topics = _topics(library, language, collection, split)
            _write_topics(site, language, collection, split, topics)
            if split == "dev":
                _write_pool(site, language, collection, topics)


def _write_passages(site: Site, language: str, collection: Collection, shards: int) -> None:
    """Shards of one size, the last one shorter; a world with fewer passages than shards leaves none empty."""
    rows = [{"docid": p.id, "title": p.title, "text": p.text} for p in collection.passages]
    if len(rows) < shards:  # as of a Wikipedia's stubs
        rows += [{"docid": f"{n}#stub", "title": str(n), "text": str(n)} for n in range(shards - len(rows))]
    for n in range(shards):
        own = rows[n * len(rows) // shards : (n + 1) * len(rows) // shards]
        site.put(CORPUS.format(language, n), jsonl(own))
    site.count("miracl_corpus", language, passages=len(rows))


def _topics(library: Library, language: str, collection: Collection, split: str) -> list[_Topic]:
    """The topics of a split: relevant passages, passages near by words that are judged 0, and those that are pooled."""
    topics: list[_Topic] = []
    for question in library.world.questions("mrtydi", language, SPLITS[split])[: QUESTIONS[split]]:
        if positives := collection.positives(question):
            wanted = NOT_RELEVANT + (POOLED if split == "dev" else 0)
            near = collection.hard(question, question.text, positives[0], wanted)
            judged = dict.fromkeys(positives, 1) | dict.fromkeys((n for n in near if n not in positives), 0)
            kept = list(judged)[: len(positives) + NOT_RELEVANT]
            name = str(len(topics)) if split == "dev" else f"{len(topics)}#0"
            topics.append(_Topic(name, question.text, {n: judged[n] for n in kept}, list(judged)))
    return topics


def _write_topics(site: Site, language: str, collection: Collection, split: str, topics: list[_Topic]) -> None:
    folder, dataset = FOLDER.format(language), "miracl" if split == "dev" else "miracl_train"
    site.put(
        f"{folder}/topics/topics.miracl-v1.0-{language}-{split}.tsv",
        _lines(f"{topic.name}\t{topic.text}" for topic in topics),
    )
    judged = [
        f"{topic.name}\tQ0\t{collection.passages[n].id}\t{relevance}"
        for topic in topics
        for n, relevance in topic.judged.items()
    ]
    site.put(f"{folder}/qrels/qrels.miracl-v1.0-{language}-{split}.tsv", _lines(judged))
    site.count(dataset, language, **{split: len(topics)})
    if split == "dev":
        site.count(dataset, language, judgments=len(judged))


def _write_pool(site: Site, language: str, collection: Collection, topics: list[_Topic]) -> None:
    """MTEB's: the judged passages of all topics and those near them; its judgments name the relevant ones and the 0."""
    pool = [collection.passages[n] for n in sorted({n for topic in topics for n in topic.pooled})]
    tables = {
        "corpus": [{"_id": p.id, "title": p.title, "text": p.text} for p in pool],
        "queries": [{"_id": topic.name, "text": topic.text} for topic in topics],
        "qrels": [
            {"query-id": topic.name, "corpus-id": collection.passages[n].id, "score": relevance}
            for topic in topics
            for n, relevance in topic.judged.items()
        ],
    }
    for role, rows in tables.items():
        site.put(POOLS.format(language, role), _parquet(rows))
    site.count("miracl_hard_negatives", language, queries=len(topics), passages=len(pool))


def _parquet(rows: list[JsonObject]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
