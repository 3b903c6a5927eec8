"""XOR-Retrieve: questions of seven languages, the English Wikipedia of 2019 in passages, DPR's training file.

Formats: AkariAsai/XORQA (README, baselines/DPR/README.md) and the released files themselves. Traps of the released
files are kept: the training file writes the language " ar" with a leading blank, answers may be "yes" or "no", and the
development file has some answers twice.
"""

from __future__ import annotations

import json

from stele.files.reading import JsonObject
from stele_world.content.draws import Draws, stream
from stele_world.content.model import Question
from stele_world.writers.dpr import example, passages_tsv
from stele_world.writers.library import Library, long_id
from stele_world.writers.site import Site, jsonl

HOST = "https://nlp.cs.washington.edu/xorqa/XORQA_site/data"
FILES = {
    "train": HOST + "/xor_train_retrieve_eng_span.jsonl",
    "dev": HOST + "/xor_dev_retrieve_eng_span_v1_1.jsonl",
    "test": HOST + "/xor_test_retrieve_eng_span_q_only_v1_1.jsonl",
}
PASSAGES = HOST + "/models/enwiki_20190201_w100.tsv"
LANGUAGES = ("ar", "bn", "fi", "ja", "ko", "ru", "te")
YES_NO = 0.08  # share of questions that ask for yes or no, in train and dev


def _answers(question: Question, split: str, draws: Draws) -> list[str]:
    """What the release gives as answers: one in train; in dev one annotator's or two, who say the same."""
    if draws.chance(YES_NO):
        return [draws.pick(("yes", "no"))]
    if split == "train":
        return [question.answers[0]]
    return [question.answers[0]] * draws.pick((1, 2, 2, 2))


def _row(question: Question, split: str, draws: Draws) -> JsonObject:
    row: JsonObject = {"id": long_id(question.id), "question": question.text}
    if split != "test":
        row["answers"] = _answers(question, split, draws)
    language = " ar" if split == "train" and question.language == "ar" else question.language
    return row | {"lang": language, "split": split}


def write(site: Site, library: Library) -> None:
    collection, world = library.hundred_words, library.world
    site.put(PASSAGES, passages_tsv(collection.passages, quote_all=False))
    site.count("enwiki_20190201_w100", passages=len(collection.passages))
    languages = [code for code in LANGUAGES if code in world.languages]
    for split, url in FILES.items():
        questions = [
            q for code in languages for q in world.questions("xor", code, split) if collection.gold(q) is not None
        ]
        questions = stream(world.seed, "xor", split).shuffled(questions)
        draws = stream(world.seed, "xor answers", split)
        rows = [_row(q, split, draws) for q in questions]
        site.put(url, jsonl(rows))
        site.count("xor_tydi", **{split: len(rows)})
        for code in languages if split != "test" else ():
            of_language = [row for row in rows if row["lang"].strip() == code]
            spans = sum(row["answers"][0] not in ("yes", "no") for row in of_language)
            site.count("xor_tydi", code, **{f"{split}_queries": len(of_language), f"{split}_countable": spans})
        if split != "test":
            _write_dpr(site, library, split, questions, rows)


def _write_dpr(site: Site, library: Library, split: str, questions: list[Question], rows: list[JsonObject]) -> None:
    """The training file of the DPR baseline, which upstream shares on Google Drive only."""
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
