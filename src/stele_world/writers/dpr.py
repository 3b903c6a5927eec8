"""DPR's files: Natural Questions for training and testing, and the Wikipedia of 2018 in 100-word passages.

Formats: facebookresearch/DPR, README ("Retriever input data format") and dpr/data/{biencoder,retriever}_data.py; the
test file is a TSV of question and a Python list of answers, in spite of its name.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from stele.files.reading import JsonObject
from stele_world.content.model import Question
from stele_world.writers.library import Library
from stele_world.writers.passages import Collection, Passage
from stele_world.writers.site import Site

HOST = "https://dl.fbaipublicfiles.com/dpr"
TRAINING = HOST + "/data/retriever/biencoder-nq-{split}.json.gz"
TEST = HOST + "/data/retriever/nq-test.qa.csv"
PASSAGES = HOST + "/wikipedia_split/psgs_w100.tsv.gz"
LICENCE = HOST + "/nq_license/LICENSE"
HARD = 3  # hard negatives of a question


def tsv(rows: Iterable[Iterable[str]], quote: int = csv.QUOTE_MINIMAL) -> str:
    """Rows with tabs between, quoted as Python's csv module does."""
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="\t", lineterminator="\n", quoting=quote).writerows(rows)
    return buffer.getvalue()


def passages_tsv(passages: Iterable[Passage], quote_all: bool) -> bytes:
    """id, text, title, with a header; psgs_w100 puts every text in quotes, XOR's file only where it must."""
    head = "id\ttext\ttitle\n"
    if not quote_all:
        return (head + tsv((p.id, p.text, p.title) for p in passages)).encode()
    rows = (f'{p.id}\t"{p.text.replace(chr(34), chr(34) * 2)}"\t{tsv([[p.title]])}' for p in passages)
    return (head + "".join(rows)).encode()


def context(passage: Passage, score: float) -> JsonObject:
    """A passage as DPR's training files hold it."""
    return {"title": passage.title, "text": passage.text, "score": score, "title_score": 0, "passage_id": passage.id}


def example(
    question: Question, collection: Collection, dataset: str, query: str, hard: int = HARD
) -> JsonObject | None:
    """One training example; None where no passage holds the answer (upstream drops those, too).

    `query` is what the negatives are near to: the question, or for a question in another language its English.
    """
    positives = collection.positives(question)
    if not positives:
        return None
    negatives = [collection.passages[n] for n in collection.hard(question, query, positives[0], hard)]
    return {
        "dataset": dataset,
        "question": question.text,
        "answers": list(question.answers),
        "positive_ctxs": [context(collection.passages[n], 1000) for n in positives],
        "negative_ctxs": [],
        "hard_negative_ctxs": [context(p, float(9 - n)) for n, p in enumerate(negatives)],
    }


def write(site: Site, library: Library) -> None:
    collection, world = library.hundred_words, library.world
    site.put(PASSAGES, passages_tsv(collection.passages, quote_all=True))
    site.count("psgs_w100", passages=len(collection.passages))
    for split in ("train", "dev"):
        rows = [example(q, collection, f"nq_{split}_psgs_w100", q.text) for q in world.questions("nq", "en", split)]
        rows = [row for row in rows if row]
        site.put(TRAINING.format(split=split), json.dumps(rows, indent=4).encode())
        site.count("nq_dpr", **{split: len(rows)})
    test = [q for q in world.questions("nq", "en", "test") if collection.gold(q) is not None]
    site.put(TEST, tsv((q.text, repr(list(q.answers))) for q in test).encode())
    site.put(LICENCE, b"Generated questions about a generated world; no rights are reserved.\n")
    site.count("nq_test", test=len(test))
