"""The recipe of KEPT (training/objectives/kept.py)."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from stele.errors import unknown
from stele.files.strict import Values
from stele.recipes.crop_ratio import CropRatio
from stele.recipes.flops import Shape, encode, passes
from stele.recipes.mining import MiningRecipe
from stele.recipes.pairs._knowledge import KnowledgeRecipe
from stele.recipes.pretraining import MLM, PretrainingRecipe
from stele.registry import load_named, module_names

CROP = "crop"  # pairs of crops, drawn from MLM's stretches of text
PAIRS = "stele.recipes.pairs"


@cache
def task_names() -> tuple[str, ...]:
    """CROP, and the mining methods on the knowledge base."""
    of_knowledge = [name for name in module_names(PAIRS) if issubclass(_recipe(name), KnowledgeRecipe)]
    return CROP, *of_knowledge


def _task(name: str) -> str:
    if name not in task_names():
        raise ValueError(str(unknown("task", name, task_names())))
    return name


def _recipe(method: str) -> type[MiningRecipe]:
    return load_named(PAIRS, method, "mining method").Recipe


Task = Annotated[str, AfterValidator(_task)]


class Recipe(PretrainingRecipe):
    """KEPT's own keys. Ablations (Tables 7 and 9) leave out, replace or add a task.

    A step has one group of each task, so `groups` is the number of tasks, or a multiple of it for larger batches.
    """

    objective: Literal["kept"] = "kept"
    tasks: list[Task] = Field(min_length=1, description="what pairs are made of, each with a store of its own")
    pairs: int = Field(ge=2, description="pairs of one contrastive group, of one task")
    length: int = Field(ge=3, description="most tokens of a text, special ones included")
    temperature: float = Field(gt=0)
    crop_ratio: CropRatio
    mask_duplicates: bool = Field(True, description="a passage equal to the positive is not a negative")

    @model_validator(mode="before")
    @classmethod
    def _a_group_of_each_task(cls, values: Values) -> Values:
        tasks = values.get("tasks")
        return {"groups": len(tasks) if isinstance(tasks, list) and tasks else 1, **values}

    @model_validator(mode="after")
    def _tasks_have_as_many_groups(self) -> Recipe:
        if len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"tasks: one is named twice in {', '.join(self.tasks)}")
        if self.groups % len(self.tasks) and not self.mlm_share:
            raise ValueError(f"groups: {self.groups} is no multiple of the {len(self.tasks)} tasks; leave the key out")
        return self

    @classmethod
    def store_of(cls, task: str) -> str:
        """Crops are of the stretches that MLM reads; every other task has the store of its name."""
        return MLM if task == CROP else task

    def own_tasks(self) -> list[str]:
        return list(self.tasks)

    def flops(self, shape: Shape, pairs: int, query_length: int, passage_length: int) -> float:
        encoder = sum(encode(pairs, length, shape, first_only=False) for length in (query_length, passage_length))
        return passes(pairs, self.encode_chunk) * encoder + 3 * 2 * shape.width * pairs**2

    def group_sizes(self, tokens: float, sentences: float) -> tuple[int, int, int]:
        length = round(self.length * tokens)
        return self.pairs, length, length
