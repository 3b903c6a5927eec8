"""Writers of Mr. TyDi, and of MIRACL and CIRAL, which use its passages and questions."""

import io
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
NEGATIVES = 4  # per training question; upstream has 30


class _Topic(NamedTuple):
    name: str
    text: str
    question: Question
    judged: dict[int, int]  # number of a passage -> relevance
    pooled: list[int]  # lexically similar passages in addition to the judged ones


def _topics(
    collection: Collection,
    questions: list[Question],
    near: int,
    not_relevant: int = 0,
    first: int = 0,
    name: str = "{}",
) -> list[_Topic]:
    """Topics of questions that a passage answers, numbered from `first`; such passages are 1, some `near` ones 0."""
    topics: list[_Topic] = []
    for question in questions:
        if positives := collection.positives(question):
            hard = [n for n in collection.hard(question, question.text, positives[0], near) if n not in positives]
            judged = dict.fromkeys(positives, 1) | dict.fromkeys(hard[:not_relevant], 0)
            number = name.format(first + len(topics))
            topics.append(_Topic(number, question.text, question, judged, hard[not_relevant:]))
    return topics


def _passage(passage: Passage) -> dict[str, str]:
    return {"docid": passage.id, "title": passage.title, "text": passage.text}


def _qrels(topics: list[_Topic], collection: Collection, between: str = "\t") -> list[str]:
    """Lines of judgments in TREC's layout."""
    return [
        between.join((topic.name, "Q0", collection.passages[n].id, str(relevance)))
        for topic in topics
        for n, relevance in topic.judged.items()
    ]


def _tsv(topics: list[_Topic]) -> bytes:
    return lines(f"{topic.name}\t{topic.text}" for topic in topics)


def _mrtydi_row(topic: _Topic, collection: Collection, split: str) -> JsonObject:
    row: JsonObject = {"query_id": topic.name, "query": topic.text}
    positives = [_passage(collection.passages[n]) for n in topic.judged]
    if split != "train":
        return row | {"positive_passages": [p | {"title": "", "text": ""} for p in positives]}
    negatives = [_passage(collection.passages[n]) for n in topic.pooled]
    return row | {"positive_passages": positives, "negative_passages": negatives}


def write_mrtydi(site: Site, library: Library) -> None:
    """Writes Mr. TyDi: corpus, topics with judgments, and qrels, a folder for each language.

    Formats: the dataset cards of castorini/mr-tydi and castorini/mr-tydi-corpus on the Hugging Face hub. Passages of
    dev and test have ids only (title and text are empty there); negatives of train come from a BM25 run. Topic numbers
    continue from split to split, so that no two topics of a language share one.
    """
    combined: list[JsonObject] = []
    for language, name in library.languages_with("mrtydi").items():
        collection, folder, first = library.paragraphs(language), MRTYDI.format(name=name), 0
        site.put(MRTYDI_CORPUS.format(name=name), jsonl(map(_passage, collection.passages)))
        site.count("mrtydi_corpus", language, passages=len(collection.passages))
        for split in ("train", "dev", "test"):
            near = NEGATIVES if split == "train" else 0
            questions = library.world.questions("mrtydi", language, split)
            topics = _topics(collection, questions, near, first=first)
            first += len(topics)
            rows, judged = [_mrtydi_row(topic, collection, split) for topic in topics], _qrels(topics, collection)
            site.put(f"{folder}/{split}.jsonl.gz", jsonl(rows))
            site.put(f"{folder}/ir-format-data/qrels.{split}.txt", lines(judged))
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
MIRACL_SPLITS = {"train": "train", "dev": "test"}  # split of MIRACL -> of Mr. TyDi
MIRACL_QUESTIONS = {"train": 60, "dev": 40}  # at most
MIRACL_NOT_RELEVANT = 3  # judged 0 of a topic
MIRACL_POOLED = 8  # passages per topic in the pool, in addition to the judged ones


def write_miracl(site: Site, library: Library) -> None:
    """Writes MIRACL: passages in shards, topics, judgments with explicit 0; MTEB's pools of it as Parquet.

    Formats: miracl/miracl-corpus (docs-{n}.jsonl.gz, with upstream's number of files per language),
    macavaney/miracl-noauth (topics as id<TAB>text, judgments in TREC's layout, with tabs),
    mteb/MIRACLRetrievalHardNegatives ({language}-corpus, {language}-queries, {language}-qrels). The passages and
    questions are Mr. TyDi's, since the real sets overlap, too: its training questions train, its test questions are
    dev's.
    """
    entries = catalogue.entries(Dataset)
    shards, trained = entries["miracl_corpus"].files[0].shards or {}, entries["miracl_train"].languages or []
    for language in (code for code in library.world.languages if code in shards):
        collection = library.paragraphs(language)
        _write_miracl_passages(site, language, collection, shards[language])
        for split in ("train", "dev") if language in trained else ("dev",):
            trains = split == "train"
            near = MIRACL_NOT_RELEVANT + (0 if trains else MIRACL_POOLED)
            questions = library.world.questions("mrtydi", language, MIRACL_SPLITS[split])[: MIRACL_QUESTIONS[split]]
            name = "{}#0" if trains else "{}"
            topics = _topics(collection, questions, near, MIRACL_NOT_RELEVANT, name=name)
            if not trains:
                _write_miracl_pool(site, language, collection, topics)
            _write_miracl_topics(site, language, collection, split, topics)


def _write_miracl_passages(site: Site, language: str, collection: Collection, shards: int) -> None:
    """Writes shards of one size, the last one shorter; none is empty, even if passages are few."""
    rows = [_passage(passage) for passage in collection.passages]
    if len(rows) < shards:  # e.g. a Wikipedia of stubs
        rows += [{"docid": f"{n}#stub", "title": str(n), "text": str(n)} for n in range(shards - len(rows))]
    for n in range(shards):
        shard = rows[n * len(rows) // shards : (n + 1) * len(rows) // shards]
        site.put(MIRACL_CORPUS.format(language, n), jsonl(shard))
    site.count("miracl_corpus", language, passages=len(rows))


def _write_miracl_topics(site: Site, language: str, collection: Collection, split: str, topics: list[_Topic]) -> None:
    folder, dataset = MIRACL.format(language), "miracl" if split == "dev" else "miracl_train"
    judged = _qrels(topics, collection)
    site.put(f"{folder}/topics/topics.miracl-v1.0-{language}-{split}.tsv", _tsv(topics))
    site.put(f"{folder}/qrels/qrels.miracl-v1.0-{language}-{split}.tsv", lines(judged))
    site.count(dataset, language, **{split: len(topics)})
    if split == "dev":
        site.count(dataset, language, judgments=len(judged))


def _write_miracl_pool(site: Site, language: str, collection: Collection, topics: list[_Topic]) -> None:
    """Writes MTEB's pool: the judged passages of all topics and those near them, with judgments 1 and 0."""
    pool = [collection.passages[n] for n in sorted({n for topic in topics for n in (*topic.judged, *topic.pooled)})]
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
    """Writes CIRAL: English questions about passages in African languages, with judgments, some of them 0.

    Formats: CIRAL/ciral-corpus, passages-v1.0/{name}_passages.jsonl: {docid, title, text, url}; CIRAL/ciral,
    ciral-{name}/topics and qrels: id<TAB>text, and TREC's layout. The passages are paragraphs of a Wikipedia, the
    topics its Mr. TyDi questions of `dev`, asked in English.
    """
    for language, name in library.languages_with("ciral").items():
        collection, folder = library.paragraphs(language), CIRAL.format(name=name)
        pages = (CIRAL_PAGE.format(language=language, passage=p.id) for p in collection.passages)
        rows = [{**_passage(p), "url": url} for p, url in zip(collection.passages, pages, strict=True)]
        site.put(CIRAL_CORPUS.format(name=name), jsonl(rows))
        questions = library.world.questions("mrtydi", language, "dev")[:CIRAL_QUESTIONS]
        topics = _topics(collection, questions, CIRAL_NOT_RELEVANT, CIRAL_NOT_RELEVANT, first=1)
        for place, topic in enumerate(topics):
            fact = topic.question.fact
            draws = stream(library.world.seed, "ask", "ciral", language, fact.subject, fact.relation)
            topics[place] = topic._replace(text=library.world.grammars["en"].question(fact, draws))
        judged = _qrels(topics, collection, " ")
        site.put(f"{folder}/topics/topics.ciral-v1.0-{language}-test-a.tsv", _tsv(topics))
        site.put(f"{folder}/qrels/qrels.ciral-v1.0-{language}-test-a.tsv", lines(judged))
        site.count("ciral_corpus", language, passages=len(rows))
        site.count("ciral", language, queries=len(topics), judgments=len(judged))
