"""Keys that all pretraining recipes share; every objective adds its own (training/objectives)."""

from abc import abstractmethod
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from stele.errors import SteleError, check_known
from stele.files.strict import Betas, Strict, Values, validate
from stele.recipes import plan_key
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.optimisation import EncodeChunk, Optimisation
from stele.registry import load_named, module_names

OBJECTIVES = "stele.training.objectives"
MLM = "mlm"


class SlidingWindow(Strict):
    """Keys of sliding-window attention (Yu et al. 2021: 64, 1,024 positions, section 4.3; 32 to 256, Table 8)."""

    window: int = Field(ge=2, description="neighbouring tokens that a token attends to, half of them on either side")
    positions: int = Field(ge=1, description="most tokens of an input of the converted model, special ones included")
    global_separators: Literal[1, 2] = Field(
        description="number of a pair's [SEP] tokens with global attention; the paper: both, its code: the first"
    )

    @field_validator("window")
    @classmethod
    def _even(cls, window: int) -> int:
        if window % 2:
            raise ValueError(f"found {window}, want an even number: a window has as many tokens on either side")
        return window


def _shares(ratio: tuple[float, float]) -> tuple[float, float]:
    if not 0 < ratio[0] <= ratio[1] <= 1:
        raise ValueError(f"found {list(ratio)}, want two shares of a stretch, the smaller first, above 0 and up to 1")
    return ratio


CropRatio = Annotated[
    tuple[float, float],
    Field(strict=False),  # YAML and JSON have lists
    AfterValidator(_shares),
    Field(description="shortest and longest crop, as shares of the span of text that it is cut from"),
]


class Expected(Strict):
    """Hours and GPUs that a paper states for a run."""

    hours: float = Field(gt=0, description="duration of the run")
    gpus: str = Field(description="number and type of the GPUs, e.g. 16 x V100")


class PretrainingRecipe(Optimisation):
    """Keys that the recipes of all objectives share. The papers' values are in catalogue/recipes.yaml, not here.

    A group is one contrastive group (or one MLM batch); a step's loss is the mean over the mean losses of its groups.
    """

    CATALOGUE_KEYS: ClassVar = ("mining", "languages")
    group_key: ClassVar[str] = "pairs"  # the key that says how many examples a group of the objective has
    mining: dict[str, str] = plan_key(
        {}, description="store of examples -> the mining recipe that fills it; required in recipes.yaml"
    )
    epoch_steps: int | None = plan_key(
        ge=1, description="optimiser steps of one epoch of its paper; null: the run has no epochs"
    )
    expect: Expected | None = plan_key(description="hours and GPUs that its paper states")

    objective: str
    languages: list[str] | None = Field(
        None, description="languages to train on; null: all languages of the given examples; required in recipes.yaml"
    )
    sampling_alpha: float = Field(
        ge=0,
        le=1,
        description="exponent of a part's size (a language's or language pair's number of examples) in its "
        "probability: 1 draws parts in proportion to their sizes, 0 uniformly",
    )
    mixing: Literal["one_language", "all_languages"] = Field(
        "one_language",
        description="whether the examples of a group come from one part (a language or a language pair) or from all "
        "parts",
    )
    groups: int = Field(ge=1, description="number of groups in an optimiser step")
    mlm_share: float = Field(
        0.0, ge=0, lt=1, description="share of the groups that are MLM batches, for objectives other than mlm"
    )
    mlm_sequences: int | None = Field(None, ge=1, description="sequences in an MLM batch")
    mlm_length: int | None = Field(None, ge=3, description="most tokens of an MLM sequence, special ones included")
    mask_probability: float | None = Field(
        None, gt=0, lt=1, description="share of the tokens that MLM, or the task qlm, must predict"
    )
    pooling: Literal["cls", "mean"] | None = Field(
        None,
        description="which hidden states give a text's vector; null: as the base states, else the objective's own "
        "pooling",
    )
    dropout: float = Field(ge=0, lt=1, description="dropout probability")
    snapshots: list[int] = Field(
        [],
        description="steps after which a copy of the encoder is kept; with equal_compute_to these are steps of the "
        "other recipe, and the copies are made at the same shares of this run",
    )
    encode_chunk: EncodeChunk = None
    sliding_window: SlidingWindow | None = Field(
        None,
        description="converts the checkpoint's full attention to sliding windows before the first step; only with "
        "objective mlm",
    )
    equal_compute_to: Values | str | None = Field(
        None,
        description="recipe whose total FLOPs this run must match: they determine `steps`, and warm-up takes the "
        "same share of the steps; in recipes.yaml the recipe's name, in --recipe its keys",
    )
    # optimisation: without defaults, so that each value comes from the recipe
    steps: int | None = Field(None, ge=1, description="number of optimiser steps; null: determined by equal_compute_to")
    betas: Betas = Field(description="AdamW's two decay rates of the moments")
    eps: float = Field(gt=0, description="AdamW's epsilon")
    weight_decay: float = Field(ge=0, description="AdamW's weight decay")
    clip_norm: float | None = Field(gt=0, description="norm at which gradients are clipped; null: no clipping")

    @model_validator(mode="after")
    def _shared_keys_fit(self) -> Self:
        sizes = (self.mlm_sequences, self.mlm_length, self.mask_probability)
        if (self.objective == MLM or self.mlm_share) and None in sizes:
            raise ValueError("mlm_share: MLM batches need mlm_sequences, mlm_length and mask_probability; give all")
        if self.sliding_window and self.objective != MLM:
            raise ValueError(f"sliding_window: found objective {self.objective}; only mlm can train a conversion")
        if self.sliding_window and self.mlm_length > self.sliding_window.positions:
            raise ValueError(f"mlm_length: {self.mlm_length} exceeds the {self.sliding_window.positions} positions")
        if (self.steps is None) == (self.equal_compute_to is None):
            raise ValueError("steps, equal_compute_to: want exactly one of the two keys")
        if self.snapshots and min(self.snapshots) < 1:
            raise ValueError(f"snapshots: step {min(self.snapshots)} is before the first step, 1")
        if self.steps and self.snapshots and max(self.snapshots) > self.steps:
            raise ValueError(f"snapshots: step {max(self.snapshots)} is after the last step, {self.steps}")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        """Name of the store from which a task reads its examples."""
        return task

    def trains_pooler(self) -> bool:
        """Whether training changes the checkpoint's pooler; otherwise it is saved unchanged."""
        return False

    def own_tasks(self) -> list[str]:
        """Tasks of the objective itself, without MLM beside it; they take turns, group by group."""
        return [self.objective]

    @property
    def mlm_beside(self) -> bool:
        """Whether MLM batches are mixed in with those of another objective."""
        return self.objective != MLM and self.mlm_share > 0

    @abstractmethod
    def new_objective(self, task: str) -> Any:
        """Creates the training.objectives.Objective of a task, a class in the same file as the recipe."""

    def mined_stores(self) -> dict[str, str]:
        """Mining recipe of each task's store, MLM's included; of all stores if another recipe sets the compute."""
        if self.equal_compute_to is not None:
            return dict(self.mining)
        read = {self.store_of(task) for task in self.all_tasks()}
        return {store: name for store, name in self.mining.items() if store in read}

    def all_tasks(self) -> list[str]:
        """The objective's own tasks, then MLM if it is trained beside them."""
        return [*self.own_tasks(), *([MLM] if self.mlm_beside else [])]

    def examples(self, task: str) -> int:
        """Number of examples in a group of a task."""
        return self.mlm_sequences if task == MLM else getattr(self, self.group_key)

    def stores_read(self) -> set[str]:
        """Names of the stores that the tasks read, and those of the recipe in `equal_compute_to`."""
        recipes = [recipe for recipe in (self, self.to_equal()) if recipe is not None]
        return {recipe.store_of(task) for recipe in recipes for task in recipe.all_tasks()}

    def lengths(self) -> dict[str, int]:
        """Most tokens of the inputs of the objective, and of MLM if it is trained, by the recipe's keys that end so."""
        keys = {key for key in type(self).model_fields if key.endswith("length")}
        keys -= set() if MLM in self.all_tasks() else {"mlm_length"}
        return {key: length for key in sorted(keys) if (length := getattr(self, key))}

    def longest_group(self) -> tuple[int, int]:
        """Number of a group's sequences whose activations wait for the backward pass, and most tokens of one."""
        sequences, *lengths = self.group_sizes(1.0, 1.0)
        return sequences, max(lengths)

    def encoded_at_a_time(self) -> list[tuple[int, int]]:
        """(sequences encoded at a time, most tokens of one) of the objective, then of MLM if it is a task too."""
        groups = [self.longest_group()]
        if self.mlm_beside:
            groups.append((self.mlm_sequences, self.mlm_length))
        return [(min(number, self.encode_chunk or number), length) for number, length in groups]

    def read_by_heads(self) -> tuple[int, int, int]:
        """Sequences that layers above the encoder read at a time, tokens of each, and number of these layers."""
        return 0, 0, 0

    def hidden_tokens(self) -> float:
        """Expected number of hidden tokens that MLM predicts at a time; 0 without MLM."""
        if self.mlm_sequences is None or not (self.mlm_beside or self.objective == MLM):
            return 0.0
        sequences = min(self.mlm_sequences, self.encode_chunk or self.mlm_sequences)
        return self.mask_probability * sequences * self.mlm_length

    def mlm_flops(self, shape: Shape, sequences: int, length: int, places: float, global_tokens: int = 2) -> float:
        """FLOPs of an MLM batch, forward and backward; `places` is the number of predicted tokens."""
        head = places * (2 * shape.width**2 + 2 * shape.width * shape.vocabulary)
        whole = encode(sequences, length, shape, first_only=False, global_tokens=global_tokens) + head
        return passes(sequences, self.encode_chunk) * whole

    def mlm_sizes(self) -> tuple[int, int, float]:
        """Arguments of `mlm_flops` for sequences as long as the recipe allows."""
        return self.mlm_sequences, self.mlm_length, self.mask_probability * self.mlm_sequences * (self.mlm_length - 2)

    def to_equal(self) -> Self | None:
        """Recipe in `equal_compute_to`, or None; raises SteleError if it has no `steps`, or fewer than a snapshot."""
        if self.equal_compute_to is None:
            return None
        other = parse_recipe(self.equal_compute_to, "--recipe: equal_compute_to")
        if other.steps is None:
            raise SteleError("--recipe: equal_compute_to: want a recipe that gives its own `steps`")
        if self.snapshots and max(self.snapshots) > other.steps:
            last = f"the last step of equal_compute_to, {other.steps}"
            raise SteleError(f"--recipe: snapshots: step {max(self.snapshots)} is after {last}")
        return other.model_copy(update={"pooling": self.pooling}) if self.pooling else other


class TasksRecipe(PretrainingRecipe):
    """Recipe of an objective with several tasks, chosen by the key `tasks`."""

    tasks: list[str] = Field(description="tasks of the objective, which take turns")

    @model_validator(mode="after")
    def _each_task_once(self) -> Self:
        if len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"tasks: found {', '.join(self.tasks)}, want each task once")
        return self

    def own_tasks(self) -> list[str]:
        return list(self.tasks)


@cache
def recipe_model(objective: str) -> type[PretrainingRecipe]:
    """Recipe class of an objective, a file of training/objectives; loading it does not need torch."""
    return load_named(OBJECTIVES, objective, "objective").Recipe


def parse_recipe(values: Values, where: str = "--recipe") -> PretrainingRecipe:
    """Validates a recipe with the model of its objective; raises SteleError for wrong keys."""
    if "objective" not in values:
        raise SteleError(f"{where}: the key `objective` is missing; give the name of a file in training/objectives")
    check_known("objective", str(values["objective"]), module_names(OBJECTIVES), where)
    return validate(recipe_model(values["objective"]), values, where)


def snapshot_step(recipe: Values, epoch: int, where: str) -> int | None:
    """Step of the snapshot at the end of `epoch`, for a recipe with `epoch_steps`; None: the end of the run.

    Raises SteleError, which names the nearest epoch, if there is no snapshot of this one.

    >>> snapshot_step({"steps": 40, "epoch_steps": 10, "snapshots": [10, 20]}, 2, "a")
    20
    """
    length, steps = recipe.get("epoch_steps"), recipe.get("steps")
    if length is None or steps is None:
        raise SteleError(f"{where}: its pretraining has no epochs, since the recipe lacks `epoch_steps` or `steps`")
    step_of_epoch = {step // length: step for step in (*recipe.get("snapshots", ()), steps) if step % length == 0}
    if epoch not in step_of_epoch:
        close = min(step_of_epoch, key=lambda other: abs(other - epoch), default=None)
        raise SteleError(f"{where}: no snapshot of epoch {epoch}, the nearest: {close}; valid: {sorted(step_of_epoch)}")
    return None if step_of_epoch[epoch] == steps else step_of_epoch[epoch]
