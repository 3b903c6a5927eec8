"""What a pretraining recipe may say; every objective adds its own keys to these."""

from __future__ import annotations

from functools import cache
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from stele.errors import SteleError, unknown
from stele.files.strict import Betas, Strict, Values, validate
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.optimisation import Optimisation
from stele.recipes.sliding_window import SlidingWindow
from stele.registry import load_named, module_names

OBJECTIVES = "stele.training.objectives"
RECIPES = "stele.recipes.objectives"
MLM = "mlm"


class PretrainingRecipe(Strict):
    """The keys that all objectives share. The papers' values stand in catalogue/recipes.yaml, not here.

    One optimiser step takes `groups` groups; a group is one contrastive group (or one MLM batch) and counts as its mean
    loss, so a step's loss is the mean over its groups.
    """

    group_key: ClassVar[str] = "pairs"  # the key that says how many examples a group of the objective has
    objective: str
    languages: list[str] | None = Field(None, description="train on these only; None: all that pairs are given for")
    sampling_alpha: float = Field(ge=0, le=1, description="of the parts: 1 follows their sizes, 0 is uniform")
    mixing: Literal["one_language", "all_languages"] = Field(
        "one_language", description="a group's examples: of one part (a language or a pair of languages), or of any"
    )
    steps: int | None = Field(None, ge=1, description="optimiser steps; None: from equal_compute_to")
    groups: int = Field(ge=1, description="groups an optimiser step")
    mlm_share: float = Field(0.0, ge=0, lt=1, description="share of the groups that are MLM batches")
    mlm_sequences: int | None = Field(None, ge=1, description="sequences an MLM batch")
    mlm_length: int | None = Field(None, ge=3, description="tokens of an MLM sequence, special ones included")
    mask_probability: float | None = Field(None, gt=0, lt=1, description="share of an MLM batch's tokens to predict")
    dropout: float = Field(ge=0, lt=1)

    learning_rate: float = Field(gt=0)
    warmup_steps: int = Field(0, ge=0, description="with equal_compute_to: the share of the steps that it has there")
    schedule: Literal["linear", "constant", "polynomial"] = "linear"
    power: float = Field(1.0, gt=0, description="of the polynomial schedule")
    betas: Betas
    eps: float = Field(gt=0)
    weight_decay: float = Field(ge=0)
    decay_all: bool = True
    clip_norm: float | None = Field(gt=0)
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    threads: int = Field(1, ge=1)
    save_every_seconds: float = Field(60.0, ge=0)

    snapshots: list[int] = Field([], description="steps after which the encoder is kept as it is then")
    encode_chunk: int | None = Field(
        None, ge=1, description="sequences encoded at a time; a device with several such parts encodes them twice"
    )
    sliding_window: SlidingWindow | None = Field(
        None, description="the checkpoint's full attention becomes windows before the first step; with MLM alone"
    )
    equal_compute_to: Values | None = Field(None, description="a recipe whose FLOPs decide this one's steps")

    @model_validator(mode="after")
    def _mlm_batches_have_a_size(self) -> PretrainingRecipe:
        sizes = (self.mlm_sequences, self.mlm_length, self.mask_probability)
        if (self.objective == MLM or self.mlm_share) and None in sizes:
            raise ValueError("MLM batches need mlm_sequences, mlm_length and mask_probability")
        return self

    @model_validator(mode="after")
    def _windows_are_of_mlm(self) -> PretrainingRecipe:
        if self.sliding_window is None:
            return self
        if self.objective != MLM:
            raise ValueError(f"sliding_window: a conversion is trained by mlm, not {self.objective}")
        if self.mlm_length > self.sliding_window.positions:
            raise ValueError(f"mlm_length {self.mlm_length} is more than the {self.sliding_window.positions} positions")
        return self

    @model_validator(mode="after")
    def _steps_are_known(self) -> PretrainingRecipe:
        if (self.steps is None) == (self.equal_compute_to is None):
            raise ValueError("give either `steps` or `equal_compute_to`, one of the two")
        if self.steps and self.snapshots and max(self.snapshots) > self.steps:
            raise ValueError(f"snapshots: step {max(self.snapshots)} is past the last one, {self.steps}")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        """The store whose examples a task reads."""
        return task

    def trains_pooler(self) -> bool:
        """Whether the checkpoint's pooler is trained, and not only kept."""
        return False

    def own_tasks(self) -> list[str]:
        """The tasks of the objective itself, without MLM beside it; they take turns, group by group."""
        return [self.objective]

    @property
    def mlm_beside(self) -> bool:
        """Whether MLM is trained beside the objective."""
        return self.objective != MLM and self.mlm_share > 0

    def all_tasks(self) -> list[str]:
        """The objective's own tasks, and MLM beside them."""
        return [*self.own_tasks(), *([MLM] if self.mlm_beside else [])]

    def examples(self, task: str) -> int:
        """Examples of a group of a task."""
        return self.mlm_sequences if task == MLM else getattr(self, self.group_key)

    def stores_read(self) -> set[str]:
        """The stores that the tasks read, those of a recipe that this one is to equal in compute among them."""
        recipes = [recipe for recipe in (self, self.to_equal()) if recipe is not None]
        return {recipe.store_of(task) for recipe in recipes for task in recipe.all_tasks()}

    def mlm_flops(self, shape: Shape, sequences: int, length: int, places: float) -> float:
        """Operations of an MLM batch, forward and backward; `places`: tokens that it predicts."""
        head = places * (2 * shape.width**2 + 2 * shape.width * shape.vocabulary)
        whole = encode(sequences, length, shape, first_only=False) + head
        return passes(sequences, self.encode_chunk) * whole

    def mlm_sizes(self, tokens: float) -> tuple[int, int, float]:
        """What `mlm_flops` wants, of sequences with a share `tokens` of the recipe's length."""
        length = round(self.mlm_length * tokens)
        return self.mlm_sequences, length, self.mask_probability * self.mlm_sequences * (length - 2)

    def optimisation(self) -> Optimisation:
        return Optimisation(**{key: getattr(self, key) for key in Optimisation.model_fields})

    def to_equal(self) -> PretrainingRecipe | None:
        """The recipe in `equal_compute_to`."""
        if self.equal_compute_to is None:
            return None
        other = parse_recipe(self.equal_compute_to, "--recipe: equal_compute_to")
        if other.steps is None:
            raise SteleError("--recipe: equal_compute_to: want a recipe that says its `steps`")
        return other


@cache
def recipe_model(objective: str) -> type[PretrainingRecipe]:
    """The recipe of an objective, a file of recipes/objectives; torch is not needed for it."""
    return load_named(RECIPES, objective, "objective").Recipe


def parse_recipe(values: Values, where: str = "--recipe") -> PretrainingRecipe:
    """Validates a recipe with the model of its objective; what is wrong is said with the key and what is valid."""
    if "objective" not in values:
        raise SteleError(f"{where}: give `objective`, the name of a file in training/objectives")
    if values["objective"] not in (known := module_names(RECIPES)):
        raise unknown("objective", str(values["objective"]), known, where)
    model = recipe_model(values["objective"])
    return validate(model, values, where)


def snapshot_step(recipe: Values, epoch: int, where: str) -> int | None:
    """The step after which a recipe with `epoch_steps` keeps its encoder of an epoch; None: the last, its end.

    An epoch without a snapshot is an error that says the nearest.

    >>> snapshot_step({"steps": 40, "epoch_steps": 10, "snapshots": [10, 20]}, 2, "a")
    20
    """
    length, steps = recipe.get("epoch_steps"), recipe.get("steps")
    if length is None or steps is None:
        raise SteleError(f"{where}: its pretraining has no epochs: its recipe says no `epoch_steps` or no `steps`")
    kept = {step // length: step for step in (*recipe.get("snapshots", ()), steps) if step % length == 0}
    if epoch not in kept:
        close = min(kept, key=lambda other: abs(other - epoch), default=None)
        raise SteleError(f"{where}: no snapshot of epoch {epoch}, the nearest: {close}. Valid: {sorted(kept)}")
    return None if kept[epoch] == steps else kept[epoch]
