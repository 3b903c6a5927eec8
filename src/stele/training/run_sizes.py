"""The sizes of a pretraining run: the examples that it draws from its stores, its FLOPs, its steps.

FLOPs are counted on the run's own batches, since documents and sentences are shorter than a recipe allows.
"""

from collections.abc import Callable, Mapping
from typing import Any

from stele.recipes.flops import Shape
from stele.recipes.pretraining import MLM, PretrainingRecipe

MARGIN = 1.5  # since shares of languages are estimated from approximate text sizes
LEAST = 1 << 20  # a cap below this saves nothing
SAMPLED = 200  # groups of each task over whose batches FLOPs are averaged

Tasks = Mapping[str, Any]  # name -> training.tasks.Task, which imports this file


def drawn(recipe: PretrainingRecipe) -> dict[str, float]:
    """Number of examples that a run draws from each store, over all parts of the store: store -> examples.

    A recipe that must equal another one in compute is assumed to have as many steps, and draws at least what the other
    draws from each store.
    """
    other = recipe.to_equal()
    groups = (recipe.steps or other.steps) * recipe.groups
    tasks = recipe.own_tasks()
    mlm_share = recipe.mlm_share if recipe.mlm_beside else 0.0
    examples = [(recipe.store_of(task), recipe.examples(task) * (1 - mlm_share) / len(tasks)) for task in tasks]
    if mlm_share:
        examples.append((recipe.store_of(MLM), recipe.examples(MLM) * mlm_share))
    draws: dict[str, float] = drawn(other) if other else {}
    for store, number in examples:  # tasks that share a store draw from it independently
        draws[store] = max(draws.get(store, 0), groups * number)
    return draws


def most(examples: float, share: float) -> float:
    """Upper bound on the examples drawn from a part that gets about `share` of all draws; at most `examples`."""
    return examples * min(1.0, MARGIN * share)


def cap(examples: float) -> int:
    """Size to which a store is cut if at most `examples` are drawn from it, rounded up to three significant bits.

    Thanks to the rounding, most small changes of a recipe leave the stores as they are.

    >>> cap(1000) == 1 << 20, cap(1_500_000) == 6 << 18, cap(1_500_001) == 6 << 18
    (True, True, True)
    """
    wanted = max(LEAST, round(examples))
    unit = 1 << (wanted.bit_length() - 3)
    return -(-wanted // unit) * unit


# --- FLOPs ------------------------------------------------------------------------------------------------------------
def per_step(recipe: PretrainingRecipe, tasks: Tasks, shape: Shape) -> float:
    """FLOPs of an average optimiser step, forward and backward, from the first batches of each task."""
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
    """Sets the steps of a recipe that must cost as much as another one; returns it with the other's FLOPs.

    Its warm-up takes the same share of its steps as the other's, and its snapshots, given in the other's steps, are at
    the same shares. A recipe without such a requirement is returned unchanged, with None.
    """
    other = recipe.to_equal()
    if other is None:
        return recipe, None
    wanted = per_step(other, tasks_of(other), shape) * other.steps
    trial = recipe.model_copy(update={"steps": other.steps})  # the number of steps does not change the first batches
    steps = max(1, round(wanted / per_step(trial, tasks_of(trial), shape)))
    warmup = round(steps * other.warmup_steps / other.steps)
    snapshots = sorted({max(1, round(steps * step / other.steps)) for step in recipe.snapshots})
    return recipe.model_copy(update={"steps": steps, "warmup_steps": warmup, "snapshots": snapshots}), wanted
