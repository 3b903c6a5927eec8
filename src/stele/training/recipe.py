"""What a pretraining recipe may say; every objective adds its own keys to these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stele.errors import SteleError, unknown
from stele.registry import load_named
from stele.training.optimisation import Optimisation

OBJECTIVES = "stele.training.objectives"


class PretrainingRecipe(BaseModel):
    """The keys that all objectives share. Values are MSM's (section 4.2; run_msm.sh of the released code).

    One optimiser step takes `groups` groups; a group is one language's contrastive group (or one MLM batch) and counts
    as its mean loss, so a step's loss is the mean over its groups. The released run: 128 sequences of 256 tokens a GPU,
    8 GPUs, 2 accumulated micro-batches = 2,048 sequences = 16 groups a step. A contrastive group holds 4 x 128
    sequences of 64 tokens, the same number of tokens: 512 = 16 documents x 32 sentences. `mlm_share` of the groups are
    MLM batches: the released code keeps 40 % of those that the text yields (mlm-data-scale) and shuffles them among all
    contrastive ones; with as many of both before that, .4 / 1.4 of the groups.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    objective: str
    languages: list[str] | None = Field(None, description="train on these only; None: all that pairs are given for")
    sampling_alpha: float = Field(0.3, ge=0, le=1)
    steps: int | None = Field(None, ge=1, description="optimiser steps; None: from equal_compute_to")
    groups: int = Field(16, ge=1, description="groups an optimiser step")
    mlm_share: float = Field(0.2857142857, ge=0, lt=1, description="share of the groups that are MLM batches")
    mlm_sequences: int = Field(128, ge=1, description="sequences an MLM batch")
    mlm_length: int = Field(256, ge=3, description="tokens of an MLM sequence, special ones included")
    mask_probability: float = Field(0.15, gt=0, lt=1)
    dropout: float = Field(0.1, ge=0, lt=1)

    learning_rate: float = Field(4e-5, gt=0)
    warmup_steps: int = Field(10000, ge=0)
    schedule: Literal["linear", "constant", "polynomial"] = "linear"
    power: float = Field(1.0, gt=0, description="of the polynomial schedule")
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-6
    weight_decay: float = 0.01
    clip_norm: float | None = None
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    threads: int = Field(1, ge=1)
    save_every_seconds: float = Field(60.0, ge=0)

    snapshots: list[int] = Field([], description="steps after which the encoder is kept as it is then")
    encode_chunk: int | None = Field(None, ge=1, description="sequences encoded at a time, again in the backward pass")
    equal_compute_to: dict[str, Any] | None = Field(None, description="a recipe whose FLOPs decide this one's steps")

    def optimisation(self) -> Optimisation:
        return Optimisation(**{key: getattr(self, key) for key in Optimisation.model_fields})


def parse_recipe(values: Mapping[str, Any], where: str = "--recipe") -> PretrainingRecipe:
    """Validates a recipe with the model of its objective; what is wrong is said with the key and what is valid."""
    if "objective" not in values:
        raise SteleError(f"{where}: give `objective`, the name of a file in training/objectives")
    model = load_named(OBJECTIVES, str(values["objective"]), "objective").Recipe
    extra = sorted(set(values) - set(model.model_fields))
    if extra:
        raise unknown("key", extra[0], model.model_fields, where)
    try:
        recipe = model(**values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "values"
        raise SteleError(f"{where}: {key}: {first['msg']} (found {first['input']!r})") from None
    if (recipe.steps is None) == (recipe.equal_compute_to is None):
        raise SteleError(f"{where}: give either `steps` or `equal_compute_to`, one of the two")
    if recipe.steps and recipe.snapshots and max(recipe.snapshots) > recipe.steps:
        raise SteleError(f"{where}: snapshots: step {max(recipe.snapshots)} is past the last one, {recipe.steps}")
    return recipe


def read_json(text: str) -> dict[str, Any]:
    """The recipe that a command is given as JSON text; anything but an object is an error."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise SteleError(f"--recipe: not JSON ({error})") from None
    if not isinstance(values, dict):
        raise SteleError(f"--recipe: want a JSON object, found {type(values).__name__}")
    return values
