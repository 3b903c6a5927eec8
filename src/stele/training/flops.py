"""Floating-point operations of a pretraining run, by its own batches: lengths are theirs, padding included.

Documents and sentences are shorter than a recipe allows, stretches of running text hardly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stele.recipes.flops import Shape
from stele.recipes.pretraining import PretrainingRecipe

Tasks = Mapping[str, Any]  # name -> training.tasks.Task, which stands above this file

SAMPLED = 200  # groups of each kind whose batches an average is taken of


def per_step(recipe: PretrainingRecipe, tasks: Tasks, shape: Shape) -> float:
    """Forward and backward passes of an average optimiser step, by the batches of its first groups of each kind."""
    number = min(SAMPLED, recipe.steps * recipe.groups)
    means = {
        name: sum(task.objective.flops(task.batch(n), recipe, shape) for n in range(number)) / number
        for name, task in tasks.items()
    }
    of_tasks = [means[name] for name in recipe.own_tasks()]
    beside = recipe.mlm_share if len(means) > len(of_tasks) else 0.0
    return recipe.groups * ((1 - beside) * sum(of_tasks) / len(of_tasks) + beside * means.get("mlm", 0.0))


def with_steps(
    recipe: PretrainingRecipe, tasks_of: Callable[[PretrainingRecipe], Tasks], shape: Shape
) -> tuple[PretrainingRecipe, float | None]:
    """Settles the steps of a recipe that is to cost as much as another one; returns it and the other's operations.

    Its warm-up is the same share of its steps as the other's. Any other recipe comes back as it is, with None.
    """
    other = recipe.to_equal()
    if other is None:
        return recipe, None
    wanted = per_step(other, tasks_of(other), shape) * other.steps
    trial = recipe.model_copy(update={"steps": other.steps})  # how many steps does not change what the first ones see
    steps = max(1, round(wanted / per_step(trial, tasks_of(trial), shape)))
    warmup = round(steps * other.warmup_steps / other.steps)
    return recipe.model_copy(update={"steps": steps, "warmup_steps": warmup}), wanted
