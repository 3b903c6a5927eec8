"""KEPT: texts linked by the knowledge base are positive pairs; each task has its own groups (sections 3.3 and 3.4).

The loss of a group is equation 4: a query's own passage against the other passages of the group, from queries to
passages only, by inner products over the temperature. The store of a task has pairs (ILK, CLK and their variants);
CROP's has stretches of text, each cropped twice anew for every batch.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from stele.errors import unknown
from stele.files.strict import Values
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.mining import KnowledgeRecipe, methods
from stele.recipes.pretraining import MLM, CropRatio, TasksRecipe
from stele.training.masking import duplicate_counts
from stele.training.objectives import PairObjective
from stele.training.text_pairs import both_sides, pair_batch

CROP = "crop"  # pairs of crops, drawn from MLM's stretches of text


@cache
def task_names() -> tuple[str, ...]:
    """Names of KEPT's tasks: CROP and the mining methods on the knowledge base."""
    of_knowledge = [name for name, recipe in methods().items() if issubclass(recipe, KnowledgeRecipe)]
    return CROP, *of_knowledge


def _task(name: str) -> str:
    if name not in task_names():
        raise ValueError(str(unknown("task", name, task_names())))
    return name


Task = Annotated[str, AfterValidator(_task)]


class Recipe(TasksRecipe):
    """A step has one group of each task, so `groups` is the number of tasks, or a multiple of it for larger batches."""

    objective: Literal["kept"] = "kept"
    tasks: list[Task] = Field(
        min_length=1,
        description="crop, or mining methods on the knowledge base: the origins of pairs, each with its own store "
        "and groups",
    )
    pairs: int = Field(ge=2, description="pairs in a contrastive group; all are of one task")
    length: int = Field(ge=3, description="most tokens of a text, special ones included")
    temperature: float = Field(gt=0, description="divisor of scores before the softmax")
    crop_ratio: CropRatio
    mask_duplicates: bool = Field(True, description="excludes passages equal to the positive from the negatives")

    @model_validator(mode="before")
    @classmethod
    def _a_group_of_each_task(cls, values: Values) -> Values:
        tasks = values.get("tasks")
        return {"groups": len(tasks) if isinstance(tasks, list) and tasks else 1, **values}

    @model_validator(mode="after")
    def _tasks_have_as_many_groups(self) -> Recipe:
        if self.groups % len(self.tasks) and not self.mlm_share:
            raise ValueError(f"groups: {self.groups} is not a multiple of {len(self.tasks)} tasks; leave the key out")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        return MLM if task == CROP else task

    def new_objective(self, task: str) -> KnowledgePairs:
        return KnowledgePairs(self)

    def flops(self, shape: Shape, pairs: int, query_length: float, passage_length: float) -> float:
        encoder = sum(encode(pairs, length, shape, self.pooling == "cls") for length in (query_length, passage_length))
        return passes(pairs, self.encode_chunk) * encoder + 3 * 2 * shape.width * pairs**2

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        return self.pairs, self.length, self.length

    def longest_group(self) -> tuple[int, int]:
        return 2 * self.pairs, self.length


class KnowledgePairs(PairObjective):
    """Objective of every task of KEPT; it compares the encoder's own vectors, without heads."""

    POOLING = "mean"

    def batch(self, examples, vocabulary, group, rng):
        """Batch of n pairs: query_ids int64 [n, t], passage_ids int64 [n, u], masks, passages' `duplicate_counts`."""
        sides = both_sides(examples, self.recipe.crop_ratio, rng)
        arrays = pair_batch(sides, vocabulary, (self.recipe.length, self.recipe.length))
        return {**arrays, **duplicate_counts(arrays["passage_ids"])}

    def loss(self, heads, model, batch, processes=None):
        queries, passages = self.both_states(model, batch, ("query", "passage"), processes)
        return self.pair_loss(queries, passages, batch, passages)
