"""The trainings behind results: a digest of their recipes; of packed results, loss curves and costs.

Weights are left out. One file holds all trainings of a kind, by the encoder's digest in a result's ancestry.
"""

import csv
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from stele.artifacts import records
from stele.files.digests import digest
from stele.files.reading import read_object, reading
from stele.files.strict import validate

FILE = "pretraining.json"
FINETUNING = "finetuning.json"
POINTS = 50  # of a curve: each the mean of a stretch of steps
FACTS = ("model", "seed", "objective", "steps", "losses", "chance", "cpu_seconds", "wall_seconds", "device", "threads")
COSTS = ("model", "seed", "steps", "cpu_seconds", "wall_seconds", "device", "threads")
KEPT = {FILE: ("encoders/*/pt*/record.json", FACTS), FINETUNING: ("finetuned/*/*/pt*/record.json", COSTS)}
NO_LOSS = ("step", "learning_rate")
RUN_BY = ("threads", "save_every_seconds")  # keys of a recipe that may differ between compared rows
EQUAL = "equal_compute_to"
FROM_BATCHES = ("steps", "warmup_steps", "snapshots")  # differ by seed where equal FLOPs determine them
TRAINS = ("finetune", "answer", "rerank", "calibrate")  # jobs that depend on the seed of fine-tuning
TRAININGS = ("pretrain", *TRAINS)  # jobs whose recipe all seeds of a row share


class Training(BaseModel):
    """Cost of a training; for a pretraining also its losses, the losses at chance level, and the curves by step."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    model: str
    seed: int
    device: str = ""
    cpu_seconds: float = 0
    losses: dict[str, float] = {}
    chance: dict[str, float] = {}
    curve: dict[str, list[float | None]] = {}

    @model_validator(mode="after")
    def _curve_of_one_length(self) -> Self:
        steps = self.curve.get("step", [])
        if any(step is None or step <= 0 for step in steps) or any(len(of) != len(steps) for of in self.curve.values()):
            raise ValueError("want as many losses as steps in `curve`, and steps of at least 1")
        return self


def recipes_digest(record: records.Record, packed: dict[str, records.Record]) -> str:
    """Digest of the recipes that trained the model behind a result; `packed`: facts of packed ancestors by digest."""
    ancestors = [packed.get(key, facts) for key, facts in record.get(records.ANCESTRY, {}).items()]
    recipes = [
        [facts["job"], facts.get("model"), shared(facts.get("recipe"))]
        for facts in ancestors
        if facts.get("job") in TRAININGS
    ]
    return digest(sorted({*map(digest, recipes)}))  # a seed may lack a language


def shared(recipe: Any) -> Any:
    """Returns a recipe without the keys that may differ between seeds.

    >>> shared({"steps": 43, "threads": 2, "equal_compute_to": {"steps": 4}}), shared({"steps": 4})
    ({'equal_compute_to': {'steps': 4}}, {'steps': 4})
    """
    if not isinstance(recipe, dict):
        return recipe
    others = {*RUN_BY, *(FROM_BATCHES if recipe.get(EQUAL) else ())}
    return {key: shared(value) if key == EQUAL else value for key, value in recipe.items() if key not in others}


def kept(folder: Path, name: str = FILE) -> dict[str, dict[str, Any]]:
    """Reads the records of pretrainings (or fine-tunings) in a folder of packed results, by digest."""
    path = folder / name
    stored = read_object(path, "record of trainings") if path.is_file() else {}
    validate(dict[str, Training], stored, str(path))
    return stored


def trainings(work: Path, wanted: Container[str], name: str = FILE) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields digest and record of the pretrainings (or fine-tunings) in `work` whose digest is `wanted`."""
    pattern, keys = KEPT[name]
    for path in sorted(work.glob(pattern)):
        if (key := records.content_digest(path)) in wanted:
            record = records.read_record(path)
            facts = {key: record[key] for key in keys if key in record}
            curve = path.with_name("curve.csv")
            if name == FILE and curve.is_file():
                facts["curve"] = thinned(curve)
            yield key, facts


def thinned(path: Path, points: int = POINTS) -> dict[str, list[float | None]]:
    """Thins a loss curve to at most `points` equal stretches of steps: the last step of each, and its mean losses.

    A task that was not drawn in a step has no loss there, which the mean leaves out; without any loss it is None.
    """
    with reading(path, "loss curve", "train again"), path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
        columns = {name: np.array([float(row[name] or "nan") for row in rows]) for name in (rows[0] if rows else ())}
    stretches = np.array_split(np.arange(len(rows)), min(points, len(rows)) or 1)
    means: dict[str, list[float | None]] = {"step": [int(columns["step"][part[-1]]) for part in stretches if len(part)]}
    for name, values in columns.items():
        if name not in NO_LOSS:
            means[name] = [_mean(values[part]) for part in stretches if len(part)]
    return means


def _mean(values: np.ndarray) -> float | None:
    values = values[np.isfinite(values)]
    return round(float(values.mean()), 4) if len(values) else None
