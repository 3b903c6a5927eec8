"""Small files in SQuAD's format, of a language that a tiny model can learn to answer in: who lives where."""

import json
from pathlib import Path

from stele.benchmarks.types import Span, SpanQuestion
from stele.files.strict import validate
from stele.recipes.finetuning import AnsweringRecipe
from tests.sealed import write_sealed

PEOPLE = ["anna", "berta", "clara", "dora", "emma", "frida", "greta", "hanna"]
PLACES = ["rome", "oslo", "bonn", "lima", "kiel", "bern", "nice", "york"]


def question(name: str, text: str, context: str, answer: str | None) -> dict:
    given = [] if answer is None else [{"text": answer, "answer_start": context.index(answer)}]
    return {"id": name, "question": text, "context": context, "answers": given, "is_impossible": answer is None}


def asked(context: str, answer: str | None = None, text: str = "where ?", name: str = "q") -> SpanQuestion:
    return as_read(question(name, text, context, answer))


def as_read(item: dict) -> SpanQuestion:
    answers = [Span(answer["answer_start"], answer["text"]) for answer in item["answers"]]
    return SpanQuestion(item["id"], item["question"], item["context"], answers)


def recipe(**changes) -> AnsweringRecipe:
    values = {"training_set": "squad2", "batch": 2, "learning_rate": 1e-3, "length": 16, "question_length": 4}
    return validate(AnsweringRecipe, values | {"stride": 5} | changes, "--recipe")


def squad(items: list[dict], version: str | None = "v2.0") -> bytes:
    """A file with a paragraph for each question."""
    paragraphs = [
        {"context": item["context"], "qas": [{key: item[key] for key in item if key != "context"}]} for item in items
    ]
    stated = {"version": version} if version else {}
    return json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}], **stated}).encode()


def lives(number: int, kind: str, answered: bool = True) -> dict:
    """Question n of a kind: a paragraph of two sentences, of which the first or the second answers."""
    person, other = PEOPLE[number % 8], PEOPLE[(number + 1 + number // 8) % 8]
    place, elsewhere = PLACES[(number * 3 + number // 8) % 8], PLACES[(number * 3 + 1 + number // 16) % 8]
    told = [f"{person} lives in {place} .", f"{other} lives in {elsewhere} ."]
    context = " ".join(told if number % 2 else told[::-1]) + " ." * (number % 4)
    absent = next(name for name in PEOPLE if name not in context)
    who = person if answered else absent
    return question(f"{kind}{number}", f"where does {who} live ?", context, place if answered else None)


def record(folder: Path, files: dict[str, bytes], content: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    path = folder / "record.json"
    return write_sealed(path, {"job": "dataset", "content": content, "labels": ["generated data"]})


def write_training(folder: Path, number: int = 40) -> Path:
    items = [lives(n, "train", answered=n % 4 != 3) for n in range(number)]
    return record(folder, {"train-v2.0.json": squad(items)}, f"train {number}")


def write_mlqa(folder: Path, pairs=(("en", "en"), ("de", "en"))) -> Path:
    """Questions and contexts of some (question, context) languages; ids are shared by all files."""
    files = {}
    for split, numbers in (("dev", range(60, 66)), ("test", range(70, 79))):
        for asked, context in pairs:
            items = [{**lives(n, split), "is_impossible": False} for n in numbers]
            files[f"{split}/{split}-context-{context}-question-{asked}.json"] = squad(items, "1.0")
    return record(folder, files, "mlqa")
