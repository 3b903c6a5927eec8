"""Mr. TyDi, and the sets of its passages and questions: MIRACL and CIRAL."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

from stele import catalogue
from stele.catalogue.schema.datasets import Dataset
from stele.files.reading import JsonObject
from stele_world.content.draws import stream
from stele_world.content.model import Question
from stele_world.site import Site, jsonl, lines
from stele_world.writers.library import Collection, Library, Passage

MRTYDI_CORPUS = (
    "https://huggingface.co/datasets/castorini/mr-tydi-corpus/resolve/main/mrtydi-v1.1-{name}/corpus.jsonl.gz"
)
MRTYDI = "https://huggingface.co/datasets/castorini/mr-tydi/resolve/main/mrtydi-v1.1-{name}"
NEGATIVES = 4  # of a training question; upstream has 30


def _passage(passage: Passage) -> dict[str, str]:
    return {"docid": passage.id, "title": passage.title, "text": passage.text}


def _mrtydi_topic(
    number: int, question: Question, collection: Collection, positives: list[int], split: str
) -> JsonObject:
    row: JsonObject = {"query_id": str(number), "query": question.text}
    if split != "train":
        ids = (collection.passages[n].id for n in positives)
        return row | {"positive_passages": [{"docid": id_, "title": "", "text": ""} for id_ in ids]}
    negatives = collection.hard(question, question.text, positives[0], NEGATIVES)
    return row | {
        "positive_passages": [_passage(collection.passages[n]) for n in positives],
        "negative_passages": [_passage(collection.passages[n]) for n in negatives],
    }


def _mrtydi_topics(library: Library, language: str) -> Iterator[tuple[str, list[JsonObject]]]:
    """(split, its topics); numbers run on from split to split, so that no two topics of a language share one."""
    collection, number = library.paragraphs(language), 0
    for split in ("train", "dev", "test"):
        rows = []
        for question in library.world.questions("mrtydi", language, split):
            if positives := collection.positives(question):
                rows.append(_mrtydi_topic(number, question, collection, positives, split))
                number += 1
        yield split, rows


def write_mrtydi(site: Site, library: Library) -> None:
    """Mr. TyDi: corpus, topics with judgments, and qrels, a folder a language.

    Formats: the dataset cards of castorini/mr-tydi and castorini/mr-tydi-corpus on the Hugging Face hub. Passages of
    dev and test carry ids only (title and text are empty there); negatives of train come from a BM25 run.
    """
    combined: list[JsonObject] = []
    for language, name in library.languages_with("mrtydi").items():
        corpus, folder = library.paragraphs(language).passages, MRTYDI.format(name=name)
        site.put(MRTYDI_CORPUS.format(name=name), jsonl(map(_passage, corpus)))
        site.count("mrtydi_corpus", language, passages=len(corpus))
        for split, rows in _mrtydi_topics(library, language):
            site.put(f"{folder}/{split}.jsonl.gz", jsonl(rows))
            site.put(
                f"{folder}/ir-format-data/topics.{split}.txt", lines(f"{r['query_id']}\t{r['query']}" for r in rows)
            )
            judged = [(r["query_id"], p["docid"]) for r in rows for p in r["positive_passages"]]
            site.put(f"{folder}/ir-format-data/qrels.{split}.txt", lines(f"{q}\tQ0\t{d}\t1" for q, d in judged))
            site.count("mrtydi_train" if split == "train" else "mrtydi", language, **{split: len(rows)})
            if split == "test":
                site.count("mrtydi", language, judgments=len(judged))
            combined += rows if split == "train" else []
    site.put(f"{MRTYDI.format(name='combined')}/train.jsonl.gz", jsonl(combined))
    site.count("mrtydi_combined", train=len(combined))


MIRACL_CORPUS = (
    "https://huggingface.co/datasets/miracl/miracl-corpus/resolve/main/miracl-corpus-v1.0-{0}/docs-{1}.jsonl.gz"
)
MIRACL = "https://huggingface.co/datasets/macavaney/miracl-noauth/resolve/main/miracl-v1.0-{0}"
MIRACL_POOLS = (
    "https://huggingface.co/datasets/mteb/MIRACLRetrievalHardNegatives/resolve/d7d94fa4b946cec4a27c84653aa0cf6b33f74a3c"
    "/{0}-{1}/dev-00000-of-00001.parquet"
)
MIRACL_SPLITS = {"train": "train", "dev": "test"}  # of MIRACL -> of Mr. TyDi
MIRACL_QUESTIONS = {"train": 60, "dev": 40}  # at most
MIRACL_NOT_RELEVANT = 3  # judged 0 of a topic
MIRACL_POOLED = 8  # passages of a topic that the pool has, besides its judged ones


class _MiraclTopic(NamedTuple):
    name: str
    text: str
    judged: dict[int, int]  # number of a passage -> relevance
    pooled: list[int]


def write_miracl(site: Site, library: Library) -> None:
    """MIRACL: passages of the Wikipedias in shards, topics, judgments with explicit 0; MTEB's pools of it as Parquet.

    Formats: miracl/miracl-corpus (docs-{n}.jsonl.gz, as many a language as upstream has), macavaney/miracl-noauth
    (topics as id<TAB>text, judgments in TREC's layout, parted by tabs), mteb/MIRACLRetrievalHardNegatives
    ({language}-corpus, {language}-queries, {language}-qrels). The passages and questions are Mr. TyDi's of the same
    world, as those of the real sets overlap: its training questions train, its test questions are judged.
    """
    entries = catalogue.entries(Dataset)
    shards, trained = entries["miracl_corpus"].files[0].shards or {}, entries["miracl_train"].languages or []
    for language in (code for code in library.world.languages if code in shards):
        collection = library.paragraphs(language)
        _write_miracl_passages(site, language, collection, shards[language])
        for split in ("train", "dev") if language in trained else ("dev",):
            topics = _miracl_topics(library, language, collection, split)
            _write_miracl_topics(site, language, collection, split, topics)
            if split == "dev":
                _write_miracl_pool(site, language, collection, topics)


def _write_miracl_passages(site: Site, language: str, collection: Collection, shards: int) -> None:
    """Shards of one size, the last one shorter; a world with fewer passages than shards leaves none empty."""
    rows = [_passage(passage) for passage in collection.passages]
    if len(rows) < shards:  # as of a Wikipedia's stubs
        rows += [{"docid": f"{n}#stub", "title": str(n), "text": str(n)} for n in range(shards - len(rows))]
    for n in range(shards):
        shard = rows[n * len(rows) // shards : (n + 1) * len(rows) // shards]
        site.put(MIRACL_CORPUS.format(language, n), jsonl(shard))
    site.count("miracl_corpus", language, passages=len(rows))


def _miracl_topics(library: Library, language: str, collection: Collection, split: str) -> list[_MiraclTopic]:
    """The topics of a split: relevant passages, passages near by words that are judged 0, and those that are pooled."""
    topics: list[_MiraclTopic] = []
    for question in library.world.questions("mrtydi", language, MIRACL_SPLITS[split])[: MIRACL_QUESTIONS[split]]:
        if positives := collection.positives(question):
            wanted = MIRACL_NOT_RELEVANT + (MIRACL_POOLED if split == "dev" else 0)
            near = collection.hard(question, question.text, positives[0], wanted)
            judged = dict.fromkeys(positives, 1) | dict.fromkeys((n for n in near if n not in positives), 0)
            in_topic = list(judged)[: len(positives) + MIRACL_NOT_RELEVANT]
            name = str(len(topics)) if split == "dev" else f"{len(topics)}#0"
            topics.append(_MiraclTopic(name, question.text, {n: judged[n] for n in in_topic}, list(judged)))
    return topics


def _write_miracl_topics(
    site: Site, language: str, collection: Collection, split: str, topics: list[_MiraclTopic]
) -> None:
    folder, dataset = MIRACL.format(language), "miracl" if split == "dev" else "miracl_train"
    site.put(
        f"{folder}/topics/topics.miracl-v1.0-{language}-{split}.tsv",
        lines(f"{topic.name}\t{topic.text}" for topic in topics),
    )
    judged = [
        f"{topic.name}\tQ0\t{collection.passages[n].id}\t{relevance}"
        for topic in topics
        for n, relevance in topic.judged.items()
    ]
    site.put(f"{folder}/qrels/qrels.miracl-v1.0-{language}-{split}.tsv", lines(judged))
    site.count(dataset, language, **{split: len(topics)})
    if split == "dev":
        site.count(dataset, language, judgments=len(judged))


def _write_miracl_pool(site: Site, language: str, collection: Collection, topics: list[_MiraclTopic]) -> None:
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
        site.put(MIRACL_POOLS.format(language, role), _parquet(rows))
    site.count("miracl_hard_negatives", language, queries=len(topics), passages=len(pool))


def _parquet(rows: list[JsonObject]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


CIRAL_CORPUS = "https://huggingface.co/datasets/CIRAL/ciral-corpus/resolve/main/passages-v1.0/{name}_passages.jsonl"
CIRAL = "https://huggingface.co/datasets/CIRAL/ciral/resolve/main/ciral-{name}"
CIRAL_PAGE = "https://news.example/{language}/{passage}"
CIRAL_QUESTIONS = 30  # at most
CIRAL_NOT_RELEVANT = 2  # judged 0 of a topic


def write_ciral(site: Site, library: Library) -> None:
    """CIRAL: English questions about passages in African languages, with judgments of which some are 0.

    Formats: CIRAL/ciral-corpus, passages-v1.0/{name}_passages.jsonl: {docid, title, text, url}; CIRAL/ciral,
    ciral-{name}/topics and qrels: id<TAB>text, and TREC's layout. The passages are paragraphs of a Wikipedia, the
    topics its Mr. TyDi questions of `dev`, asked in English.
    """
    for language, name in library.languages_with("ciral").items():
        passages = library.paragraphs(language).passages
        rows = [{**_passage(p), "url": CIRAL_PAGE.format(language=language, passage=p.id)} for p in passages]
        site.put(CIRAL_CORPUS.format(name=name), jsonl(rows))
        topics, judged = _ciral_judged(library, language)
        folder = CIRAL.format(name=name)
        site.put(f"{folder}/topics/topics.ciral-v1.0-{language}-test-a.tsv", lines(topics))
        site.put(f"{folder}/qrels/qrels.ciral-v1.0-{language}-test-a.tsv", lines(judged))
        site.count("ciral_corpus", language, passages=len(rows))
        site.count("ciral", language, queries=len(topics), judgments=len(judged))


def _ciral_judged(library: Library, language: str) -> tuple[list[str], list[str]]:
    """The lines of topics, and those of judgments: relevant passages, then some that are near by words."""
    world, collection = library.world, library.paragraphs(language)
    topics: list[str] = []
    judged: list[str] = []
    for question in world.questions("mrtydi", language, "dev")[:CIRAL_QUESTIONS]:
        if not (positives := collection.positives(question)):
            continue
        name = str(len(topics) + 1)
        draws = stream(world.seed, "ask", "ciral", language, question.fact.subject, question.fact.relation)
        topics.append(f"{name}\t{world.grammars['en'].question(question.fact, draws, None)}")
        others = [
            n for n in collection.hard(question, question.text, positives[0], CIRAL_NOT_RELEVANT) if n not in positives
        ]
        judgments = [*((n, 1) for n in positives), *((n, 0) for n in others)]
        judged += [f"{name} Q0 {collection.passages[n].id} {relevance}" for n, relevance in judgments]
    return topics, judged
