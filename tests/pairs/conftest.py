"""The checkpoint with the tests' tokenizer, and the command as a function."""

import argparse
import json
from types import SimpleNamespace

import pytest
from mining_texts import new_tokenizer, record

from stele.documents import Document, DocumentWriter
from stele.pairs import mine
from stele.training.store import Store


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint")
    new_tokenizer().save_pretrained(folder)
    return record(folder, labels=["stand-in checkpoint"])


@pytest.fixture
def mined(tmp_path, checkpoint):
    """mined(documents, recipe keys...) -> folder, record and examples (lists of lists of ids) of the store written."""
    runs = iter(range(1000))

    def call(documents, *, seed=3, language="xx", limit=None, shards=1, **recipe):
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
        args = dict(recipe=json.dumps(recipe), language=language, documents=sources, tokenizer=checkpoint)
        mine.run(argparse.Namespace(**args, seed=seed, output=output, limit=limit))
        store = Store(output.parent)
        examples = [[segment.tolist() for segment in store[i]] for i in range(len(store))]
        return SimpleNamespace(folder=output.parent, record=json.loads(output.read_text()), examples=examples)

    return call
