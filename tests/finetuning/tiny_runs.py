"""Small training sets, and runs of the command in this process."""

import json
from pathlib import Path

from stele.benchmarks.types import Passage, TrainingExample
from stele.finetuning import finetune as command
from tests.jobs import job
from tests.sealed import write_sealed

WORDS = [f"{first}{second}" for first in ("al", "be", "ga", "de") for second in ("pha", "ta", "mma", "lta", "psi")]


def example(i: int, negatives: int = 2) -> dict:
    """Example i: its query and its positive share two words that no other example has together."""
    a, b, c = WORDS[i % 20], WORDS[(i * 7 + 3) % 20], WORDS[(i // 20 + i) % 20]
    return {
        "query": f"what is {a} {b} {i}?",
        "positives": [{"title": f"{a} {i}", "text": f"{a} {b} is {i} of {c} {b}"}],
        "negatives": [{"title": a, "text": f"{a} is not {n} {WORDS[(i + n) % 20]}"} for n in range(1, negatives + 1)],
        "language": "en",
    }


def training_example(i: int) -> TrainingExample:
    item = example(i)
    positives, negatives = ([Passage("", **passage) for passage in item[key]] for key in ("positives", "negatives"))
    return TrainingExample(item["query"], positives, negatives, "")


def write_set(folder: Path, train: list[dict], dev: list[dict] | None = None) -> Path:
    """A training set of one's own with its record; returns the record."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, items in (("train", train), ("dev", dev or [])):
        if items:
            text = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return write_sealed(folder / "record.json", {"job": "dataset", "content": "x", "labels": ["generated data"]})


def finetune(encoder: Path, data: Path | str, output: Path, recipe: dict, seed: int = 0, **more) -> dict:
    """Runs the command and returns the record it wrote."""
    flags = ["--model", "tiny", "--recipe", json.dumps(recipe), "--encoder", str(encoder / "record.json")]
    flags += ["--training", *f"own:all={data}".split(), "--seed", str(seed)]
    flags += ["--state", str(output / "state"), "--output", str(output / "out" / "record.json")]
    for name, value in more.items():
        flags += [f"--{name}", str(value)]
    command.run(job(command, flags))
    return json.loads((output / "out" / "record.json").read_text())


RECIPE = {
    **{"training_set": "jsonl", "towers": "separate", "pooling": "mean", "strip_question_mark": True},
    **{"batch": 8, "hard_negatives": 1, "steps": 12, "query_length": 24, "passage_length": 32},
    **{"learning_rate": 1e-3, "warmup_steps": 2, "clip_norm": 2.0, "dropout": 0.1},
}
XTREME = {
    **{**RECIPE, "towers": "shared", "pooling": "pooler", "normalize": True, "scale": 100.0},
    **{"strip_question_mark": False, "hard_negatives": 0, "clip_norm": 1.0},
}
