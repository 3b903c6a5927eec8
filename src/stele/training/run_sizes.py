"""The sizes of a pretraining run: the examples that it draws of its stores, its operations, its steps.

Examples are counted by arithmetic while a run is planned; operations by the run's own batches, padding included, since
documents and sentences are shorter than a recipe allows (stretches of running text hardly).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stele.recipes.flops import Shape
from stele.recipes.pretraining import MLM, PretrainingRecipe

MARGIN = 1.5  # shares of languages are reckoned from about how large their texts are
LEAST = 1 << 20  # a cap below this saves nothing
SAMPLED = 200  # groups of each kind whose batches an average is taken of

Tasks = Mapping[str, Any]  # name -> training.tasks.Task, which stands above this file


def drawn(recipe: PretrainingRecipe) -> dict[str, float]:
    """store -> examples that a run draws of all its parts together.

    A recipe that is to equal another in compute reads that one's stores as the other does; it is taken to have as many
    steps, since a group of MLM costs more than one of vectors.
    """
    other = recipe.to_equal()
    groups = (recipe.steps or other.steps) * recipe.groups
    tasks = recipe.own_tasks()
    mlm_share = recipe.mlm_share if recipe.mlm_beside else 0.0
    examples = [(recipe.store_of(task), recipe.examples(task) * (1 - mlm_share) / len(tasks)) for task in tasks]
    if mlm_share:
        examples.append((recipe.store_of(MLM), recipe.examples(MLM) * mlm_share))
    draws: dict[str, float] = drawn(other) if other else {}
    for store, number in examples:  # tasks that share a store go through it each by itself
        draws[store] = max(draws.get(store, 0), groups * number)
    return draws


def most(examples: float, share: float) -> float:
    """The most that may be drawn of a part, of which about a `share` of the draws is: no more than all of them."""
    return examples * min(1.0, MARGIN * share)


def cap(examples: float) -> int:
    """The size that a store is cut to if `examples` may be drawn from it, rounded up to three bits.

    A recipe that is changed a little therefore mostly leaves the stores as they are.

    >>> cap(1000) == 1 << 20, cap(1_500_000) == 6 << 18, cap(1_500_001) == 6 << 18
    (True, True, True)
    """
    wanted = max(LEAST, round(examples))
    unit = 1 << (wanted.bit_length() - 3)
    return -(-wanted // unit) * unit


# --- operations -------------------------------------------------------------------------------------------------------
def per_step(recipe: PretrainingRecipe, tasks: Tasks, shape: Shape) -> float:
    """Forward and backward passes of an average optimiser step, by the batches of its first groups of each kind."""
    number = min(SAMPLED, recipe.steps * recipe.groups)
    means = {
        name: sum(task.objective.flops(task.batch(n), shape) for n in range(number)) / number
        for name, task in tasks.items()
    }
    of_tasks = [means[name] for name in recipe.own_tasks()]
    mlm_share = recipe.mlm_share if len(means) > len(of_tasks) else 0.0
    return recipe.groups * ((1 - mlm_share) * sum(of_tasks) / len(of_tasks) + mlm_share * means.get("mlm", 0.0))


def with_steps(
    recipe: PretrainingRecipe, tasks_of: Callable[[PretrainingRecipe], Tasks], shape: Shape
) -> tuple[PretrainingRecipe, float | None]:
    """Settles the steps of a recipe that is to cost as much as another one; returns it and the other's operations.

    Its warm-up is the same share of its steps as the other's, and its snapshots, given in the other's steps, are at the
    same shares. Any other recipe comes back as it is, with None.
    """
    other = recipe.to_equal()
    if other is None:
        return recipe, None
    wanted = per_step(other, tasks_of(other), shape) * other.steps
    trial = recipe.model_copy(update={"steps": other.steps})  # how many steps does not change what the first ones see
    steps = max(1, round(wanted / per_step(trial, tasks_of(trial), shape)))
    warmup = round(steps * other.warmup_steps / other.steps)
    snapshots = sorted({max(1, round(steps * step / other.steps)) for step in recipe.snapshots})
    return recipe.model_copy(update={"steps": steps, "warmup_steps": warmup, "snapshots": snapshots}), wanted
