"""MS MARCO passages as Tevatron publishes them: for training (a query, its passage and BM25 negatives a line), and all.

Formats: the datasets Tevatron/msmarco-passage and Tevatron/msmarco-passage-corpus on the Hugging Face hub
(msmarco-passage.py, msmarco-passage-corpus.py there); dev has queries only. A passage has the same id in both.
"""

from __future__ import annotations

from stele_world.content.model import Question
from stele_world.writers.library import Library
from stele_world.writers.passages import Passage
from stele_world.writers.site import Site, jsonl

URL = "https://huggingface.co/datasets/Tevatron/msmarco-passage/resolve/main/{split}.jsonl.gz"
CORPUS = "https://huggingface.co/datasets/Tevatron/msmarco-passage-corpus/resolve/main/corpus.jsonl.gz"
NEGATIVES = 4  # of a query; upstream has 30


def answered(library: Library) -> list[tuple[Question, list[int]]]:
    """The training questions, whose ids count from 0, with the numbers of the passages that answer each."""
    collection = library.paragraphs("en")
    asked = [(question, collection.positives(question)) for question in library.world.questions("marco", "en", "train")]
    return [(question, positives) for question, positives in asked if positives]


def write(site: Site, library: Library) -> None:
    collection = library.paragraphs("en")

    def passage(number: int) -> dict[str, str]:
        p: Passage = collection.passages[number]
        return {"docid": str(number), "title": p.title, "text": p.text}

    rows = []
    for question, positives in answered(library):
        negatives = collection.hard(question, question.text, positives[0], NEGATIVES)
        rows.append(
            {
                "query_id": str(len(rows)),
                "query": question.text,
                "positive_passages": [passage(n) for n in positives],
                "negative_passages": [passage(n) for n in negatives],
            }
        )
    dev = [
        {"query_id": str(len(rows) + n), "query": q.text}
        for n, q in enumerate(library.world.questions("marco", "en", "dev"))
    ]
    site.put(URL.format(split="train"), jsonl(rows))
    site.put(URL.format(split="dev"), jsonl(dev))
    site.count("msmarco_passage", train=len(rows), dev=len(dev))
    site.put(CORPUS, jsonl(map(passage, range(len(collection.passages)))))
    site.count("msmarco_passage_corpus", passages=len(collection.passages))
