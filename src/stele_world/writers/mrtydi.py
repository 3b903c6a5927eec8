"""Mr. TyDi: corpus, topics with judgments, and qrels, a folder a language.

Formats: the dataset cards of castorini/mr-tydi and castorini/mr-tydi-corpus on the Hugging Face hub. Passages of dev
and test carry ids only (title and text are empty there); negatives of train come from a BM25 run.
"""

from __future__ import annotations

from collections.abc import Iterator

from stele.files.reading import JsonObject
from stele_world.content.model import Question
from stele_world.writers.library import Library
from stele_world.writers.passages import Collection, Passage
from stele_world.writers.site import Site, jsonl

CORPUS = "https://huggingface.co/datasets/castorini/mr-tydi-corpus/resolve/main/mrtydi-v1.1-{name}/corpus.jsonl.gz"
FOLDER = "https://huggingface.co/datasets/castorini/mr-tydi/resolve/main/mrtydi-v1.1-{name}"
NEGATIVES = 4  # of a training question; upstream has 30


def _passage(passage: Passage) -> dict[str, str]:
    return {"docid": passage.id, "title": passage.title, "text": passage.text}


def _topic(number: int, question: Question, collection: Collection, positives: list[int], split: str) -> JsonObject:
    row: JsonObject = {"query_id": str(number), "query": question.text}
    if split != "train":
        ids = (collection.passages[n].id for n in positives)
        return row | {"positive_passages": [{"docid": id_, "title": "", "text": ""} for id_ in ids]}
    negatives = collection.hard(question, question.text, positives[0], NEGATIVES)
    return row | {
        "positive_passages": [_passage(collection.passages[n]) for n in positives],
        "negative_passages": [_passage(collection.passages[n]) for n in negatives],
    }


def _topics(library: Library, language: str) -> Iterator[tuple[str, list[JsonObject]]]:
    """(split, its topics); numbers run on from split to split, so that no two topics of a language share one."""
    collection, number = library.paragraphs(language), 0
    for split in ("train", "dev", "test"):
        rows = []
        for question in library.world.questions("mrtydi", language, split):
            if positives := collection.positives(question):
                rows.append(_topic(number, question, collection, positives, split))
                number += 1
        yield split, rows


def write(site: Site, library: Library) -> None:
    combined: list[JsonObject] = []
    for language, name in library.languages_with("mrtydi").items():
        corpus, folder = library.paragraphs(language).passages, FOLDER.format(name=name)
        site.put(CORPUS.format(name=name), jsonl(map(_passage, corpus)))
        site.count("mrtydi_corpus", language, passages=len(corpus))
        for split, rows in _topics(library, language):
            site.put(f"{folder}/{split}.jsonl.gz", jsonl(rows))
            site.put(
                f"{folder}/ir-format-data/topics.{split}.txt", _lines(f"{r['query_id']}\t{r['query']}" for r in rows)
            )
            judged = [(r["query_id"], p["docid"]) for r in rows for p in r["positive_passages"]]
            site.put(f"{folder}/ir-format-data/qrels.{split}.txt", _lines(f"{q}\tQ0\t{d}\t1" for q, d in judged))
            site.count("mrtydi_train" if split == "train" else "mrtydi", language, **{split: len(rows)})
            if split == "test":
                site.count("mrtydi", language, judgments=len(judged))
            combined += rows if split == "train" else []
    site.put(f"{FOLDER.format(name='combined')}/train.jsonl.gz", jsonl(combined))
    site.count("mrtydi_combined", train=len(combined))


def _lines(lines: Iterator[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
