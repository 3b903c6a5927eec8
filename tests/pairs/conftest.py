"""The checkpoint with the tests' tokenizer, and the command as a function."""

import json
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from knowledge_texts import documents, knowledge, part_words
from mining_texts import new_tokenizer, record

from stele.artifacts.documents import Document, DocumentWriter
from stele.pairs import knowledge_pairs as knowledge_pairs_command
from stele.pairs import mine
from stele.training.store import Store
from tests.jobs import job


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    new_tokenizer().save_pretrained(folder)
    return record(folder, labels=["stand-in checkpoint"])


@pytest.fixture
def mined(tmp_path, checkpoint):
    """mined(documents, recipe keys...) -> folder, record and examples (lists of lists of ids) of the store written."""
    runs = iter(range(1000))

    def call(documents, *, seed=3, language="xx", limit=None, most=None, shards=1, **recipe):
        place = tmp_path / f"run{next(runs)}"
        each = -(-len(documents) // shards)
        sources = []
        for n in range(shards):
            (folder := place / f"documents{n}").mkdir(parents=True)
            with DocumentWriter(folder) as writer:
                for doc_id, sentences in documents[n * each : (n + 1) * each]:
                    writer.add(Document(language, doc_id, sentences, [0]))
            sources.append(record(folder, **writer.counts, labels=["generated data"]))
        output = place / "pairs" / "record.json"
        given = dict(recipe=json.dumps(recipe), language=language, documents=sources, tokenizer=checkpoint)
        mine.run(mine.Mine(**given, seed=seed, output=output, limit=limit, most=most))
        store = Store(output.parent)
        examples = [[segment.tolist() for segment in store[i]] for i in range(len(store))]
        return SimpleNamespace(folder=output.parent, record=json.loads(output.read_text()), examples=examples)

    return call


@pytest.fixture
def knowledge_pairs(tmp_path):
    """knowledge_pairs({language: articles}, recipe keys...) -> the record and the rows that the command writes.

    `others` are articles whose documents are given in place of those that the knowledge base is made of; `write` writes
    documents, as `documents` does.
    """
    runs = iter(range(1000))

    def call(wikis, *, seed=3, shards=1, threads=1, others=None, write=documents, **recipe):
        place = tmp_path / f"knowledge{next(runs)}"
        sources = {code: write(place / "documents", code, articles, shards) for code, articles in wikis.items()}
        bases = {code: knowledge(place / f"base-{code}", wikis[code], sources[code]) for code in wikis}
        for code, articles in (others or {}).items():
            sources[code] = write(place / "others", code, articles, shards)
        output = place / "pairs" / "record.json"
        given = [*part_words(recipe, sources, bases, seed, output), "--threads", str(threads), "--memory-mb", "2000"]
        knowledge_pairs_command.run(job(knowledge_pairs_command, given))
        rows = pq.read_table(output.parent / "pairs.parquet").to_pylist()
        return SimpleNamespace(path=output, record=json.loads(output.read_text()), rows=rows, folder=output.parent)

    return call
