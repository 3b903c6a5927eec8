"""How many examples a pretraining draws from each of its stores, by arithmetic: what a store need hold of its part."""

from __future__ import annotations

from stele.recipes.pretraining import MLM, PretrainingRecipe

MARGIN = 1.5  # shares of languages are reckoned from about how large their texts are
LEAST = 1 << 20  # a cap below this saves nothing


def drawn(recipe: PretrainingRecipe) -> dict[str, float]:
    """store -> examples that a run draws of all its parts together.

    A recipe that is to equal another in compute reads that one's stores as the other does; it is taken to have as many
    steps, since a group of MLM costs more than one of vectors.
    """
    other = recipe.to_equal()
    groups = (recipe.steps or other.steps) * recipe.groups
    tasks = recipe.own_tasks()
    beside = recipe.mlm_share if recipe.mlm_beside else 0.0
    examples = [(recipe.store_of(task), recipe.examples(task) * (1 - beside) / len(tasks)) for task in tasks]
    if beside:
        examples.append((recipe.store_of(MLM), recipe.examples(MLM) * beside))
    draws: dict[str, float] = drawn(other) if other else {}
    for store, number in examples:  # tasks that share a store go through it each by itself
        draws[store] = max(draws.get(store, 0), groups * number)
    return draws


def most(examples: float, share: float) -> float:
    """The most that may be drawn of a part, of which about a `share` of the draws is: no more than all of them."""
    return examples * min(1.0, MARGIN * share)


def cap(examples: float) -> int:
    """What a store is cut to that so many examples may be drawn from, rounded up to three bits.

    A recipe that is changed a little therefore mostly leaves the stores as they are.

    >>> cap(1000) == 1 << 20, cap(1_500_000) == 6 << 18, cap(1_500_001) == 6 << 18
    (True, True, True)
    """
    wanted = max(LEAST, round(examples))
    unit = 1 << (wanted.bit_length() - 3)
    return -(-wanted // unit) * unit
