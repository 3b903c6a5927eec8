"""DPR's Natural Questions and XOR-Retrieve, over passages of 100 words."""

import csv
import io
import json
from collections.abc import Iterable

from stele.files.reading import JsonObject
from stele_world.content.draws import Draws, stream
from stele_world.content.model import Question
from stele_world.site import Site, jsonl
from stele_world.writers.library import Collection, Library, Passage, long_id

DPR = "https://dl.fbaipublicfiles.com/dpr"
NQ_TRAINING = DPR + "/data/retriever/biencoder-nq-{split}.json.gz"
NQ_TEST = DPR + "/data/retriever/nq-test.qa.csv"
NQ_PASSAGES = DPR + "/wikipedia_split/psgs_w100.tsv.gz"
HARD = 3  # hard negatives per question


def tsv(rows: Iterable[Iterable[str]]) -> str:
    """Formats rows as tab-separated values, quoted as in Python's csv module."""
    buffer = io.StringIO()
    csv.writer(buffer, delimiter="\t", lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def passages_tsv(passages: Iterable[Passage], quote_all: bool) -> bytes:
    """Table of id, text and title, with a header; psgs_w100 quotes every text, XOR's file only where needed."""
    head = "id\ttext\ttitle\n"
    if not quote_all:
        return (head + tsv((p.id, p.text, p.title) for p in passages)).encode()
    rows = (f'{p.id}\t"{p.text.replace(chr(34), chr(34) * 2)}"\t{tsv([[p.title]])}' for p in passages)
    return (head + "".join(rows)).encode()


def context(passage: Passage, score: float) -> JsonObject:
    """Formats a passage as in DPR's training files."""
    return {"title": passage.title, "text": passage.text, "score": score, "title_score": 0, "passage_id": passage.id}


def example(
    question: Question, collection: Collection, dataset: str, query: str, hard: int = HARD
) -> JsonObject | None:
    """Makes a training example, or None if no passage holds the answer (upstream drops those, too).

    Negatives are near to `query`: the question itself, or the English version of a question in another language.
    """
    positives = collection.positives(question)
    if not positives:
        return None
    negatives = [collection.passages[n] for n in collection.hard(question, query, positives[0], hard)]
    return {
        "dataset": dataset,
        "question": question.text,
        "answers": [question.answer],
        "positive_ctxs": [context(collection.passages[n], 1000) for n in positives],
        "negative_ctxs": [],
        "hard_negative_ctxs": [context(p, float(9 - n)) for n, p in enumerate(negatives)],
    }


def write_nq(site: Site, library: Library) -> None:
    """Writes DPR's files: Natural Questions for training and testing, and Wikipedia 2018 in 100-word passages.

    Formats: facebookresearch/DPR, README ("Retriever input data format") and dpr/data/{biencoder,retriever}_data.py;
    the test file is a TSV of question and a Python list of answers, in spite of its name.
    """
    collection, world = library.hundred_words, library.world
    site.put(NQ_PASSAGES, passages_tsv(collection.passages, quote_all=True))
    site.count("psgs_w100", passages=len(collection.passages))
    for split in ("train", "dev"):
        rows = [example(q, collection, f"nq_{split}_psgs_w100", q.text) for q in world.questions("nq", "en", split)]
        rows = [row for row in rows if row]
        site.put(NQ_TRAINING.format(split=split), json.dumps(rows, indent=4).encode())
        site.count("nq_dpr", **{split: len(rows)})
    test = [q for q in world.questions("nq", "en", "test") if collection.gold(q) is not None]
    site.put(NQ_TEST, tsv((q.text, repr([q.answer])) for q in test).encode())
    site.count("nq_test", test=len(test))


XOR = "https://nlp.cs.washington.edu/xorqa/XORQA_site/data"
XOR_FILES = {
    "train": XOR + "/xor_train_retrieve_eng_span.jsonl",
    "dev": XOR + "/xor_dev_retrieve_eng_span_v1_1.jsonl",
}
XOR_PASSAGES = XOR + "/models/enwiki_20190201_w100.tsv"
XOR_LANGUAGES = ("ar", "bn", "fi", "ja", "ko", "ru", "te")
YES_NO = 0.08  # share of questions that ask for yes or no


def _xor_row(question: Question, split: str, draws: Draws) -> JsonObject:
    """Line of a question with its answers: one in train, one or two equal ones in dev, sometimes yes or no."""
    if draws.chance(YES_NO):
        answers = [draws.pick(("yes", "no"))]
    else:
        answers = [question.answer] * (1 if split == "train" else draws.pick((1, 2, 2, 2)))
    language = " ar" if split == "train" and question.language == "ar" else question.language
    row: JsonObject = {"id": long_id(question.id), "question": question.text, "answers": answers}
    return row | {"lang": language, "split": split}


def write_xor(site: Site, library: Library) -> None:
    """Writes XOR-Retrieve: questions in seven languages, English Wikipedia 2019 in passages, DPR's training file.

    Formats: AkariAsai/XORQA (README, baselines/DPR/README.md) and the released files themselves. Traps of the released
    files are kept: the training file writes the language " ar" with a leading blank, answers may be "yes" or "no", and
    the development file has some answers twice.
    """
    collection, world = library.hundred_words, library.world
    site.put(XOR_PASSAGES, passages_tsv(collection.passages, quote_all=False))
    site.count("enwiki_20190201_w100", passages=len(collection.passages))
    languages = [code for code in XOR_LANGUAGES if code in world.languages]
    for split, url in XOR_FILES.items():
        questions = [
            q for code in languages for q in world.questions("xor", code, split) if collection.gold(q) is not None
        ]
        questions = stream(world.seed, "xor", split).shuffled(questions)
        draws = stream(world.seed, "xor answers", split)
        rows = [_xor_row(q, split, draws) for q in questions]
        site.put(url, jsonl(rows))
        site.count("xor_tydi", **{split: len(rows)})
        for code in languages:
            of_language = [row for row in rows if row["lang"].strip() == code]
            spans = sum(row["answers"][0] not in ("yes", "no") for row in of_language)
            site.count("xor_tydi", code, **{f"{split}_queries": len(of_language), f"{split}_countable": spans})
        _write_xor_training(site, library, split, questions, rows)


def _write_xor_training(
    site: Site, library: Library, split: str, questions: list[Question], rows: list[JsonObject]
) -> None:
    """Writes the training file of the DPR baseline, which upstream shares on Google Drive only."""
    world, examples = library.world, []
    for question, row in zip(questions, rows, strict=True):
        if row["answers"][0] in ("yes", "no"):
            continue
        english = world.grammars["en"].question(question.fact, stream(world.seed, "xor english", question.id))
        entry = example(question, library.hundred_words, f"xor_{split}", english, hard=1)
        if entry:
            examples.append({"q_id": row["id"], **entry, "answers": row["answers"], "lang": question.language})
    site.put_licensed("xor_dpr_train", f"dpr_{split}_data.json", json.dumps(examples, indent=4).encode())
    site.count("xor_dpr_train", **{split: len(examples)})
