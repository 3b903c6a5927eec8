"""Makes small stand-ins for the tests, by the command itself."""

import json
from pathlib import Path
from typing import Any

from stele import catalogue
from stele.catalogue.hub import repository
from stele.catalogue.recipes import generator_models
from stele.recipes.standins import kinds
from tests.jobs import job

LANGUAGES = ["en", "de", "th"]
SMALL = {"steps": 3, "batch": 6, "length": 16}
SIZES: dict[str, dict[str, Any]] = {
    "xlmr": {"tokenizer": {"kind": "sentencepiece", "size": 500}},
    "mbert": {"tokenizer": {"kind": "wordpiece", "size": 600}},
    "mbert_uncased": {"tokenizer": {"kind": "wordpiece", "size": 600, "lowercase": True}},
    "bert": {"tokenizer": {"kind": "wordpiece", "size": 300, "lowercase": True}},
    "mbart": {"tokenizer": {"kind": "mbart", "size": 500}},
    "mbart50": {"tokenizer": {"kind": "mbart50", "size": 500}},
    "roberta": {"tokenizer": {"kind": "byte", "size": 400}},
    "xlmr_long": {"positions": 200, "length": 40},
    "qwen3_06b": {"tokenizer": {"kind": "ending", "size": 400}},
    "harrier_270m": {"tokenizer": {"kind": "ending", "size": 400}},
    "embeddinggemma": {"tokenizer": {"kind": "ending", "size": 400}, "dense": [32, 16]},
}
BODY = {"layers": 2, "width": 16, "heads": 2, "inner": 32, "positions": 64}


def recipe(key: str, **values: Any) -> dict[str, Any]:
    """The catalogue's entry of a stand-in with the sizes of the tests."""
    entry = {**catalogue.load("standins")[key], **SMALL, **SIZES.get(key, {})}
    if "architecture" in entry:
        entry["architecture"] = {**entry["architecture"], **BODY}
    keys = kinds()[entry["kind"]].model_fields
    sizes = {"pairs": 4, "pair_length": 12, "max_length": 48}
    entry |= {key: size for key, size in sizes.items() if key in keys}
    return {**entry, **values}


def make(key: str, mirror: Path, records: Path, languages: list[str], values: dict | None = None) -> dict[str, Any]:
    from stele_world import standin

    entry = recipe(key, **(values or {}))
    output = records / key / "record.json"
    flags = ["--checkpoint", key, "--recipe", json.dumps(entry), "--mirror", str(mirror), "--languages", *languages]
    flags += ["--base", *(str(records / base / "record.json") for base in entry["bases"])]
    flags += ["--seed", "3", "--state", str(records / "state" / key), "--output", str(output)]
    standin.run(job(standin, flags))
    return json.loads(output.read_text())


def fetch(key: str, mirror: Path, records: Path, folder: Path) -> dict[str, Any]:
    """Fetches a published stand-in as the checkpoint rule does; returns the record."""
    from stele.sources import checkpoint

    entry = catalogue.load("standins")[key]
    source = {"checkpoint": entry["repo"]} if "repo" in entry else {}
    where = ["--mirrors", str(mirror), "--offline"] if repository(source) else ["--path", str(records / key / key)]
    use = ["--generator"] if key in generator_models() else []
    flags = ["--model", key, "--source", json.dumps(source), *where, *use, "--state", str(folder / "state")]
    checkpoint.run(job(checkpoint, [*flags, "--output", str(folder / key / "record.json")]))
    return json.loads((folder / key / "record.json").read_text())
