"""Operations of a pretraining before there are any batches: the recipe's arithmetic at assumed lengths."""

from __future__ import annotations

from stele.catalogue.schema.costs import Fill
from stele.recipes.flops import Shape
from stele.recipes.pretraining import PretrainingRecipe


def per_step(recipe: PretrainingRecipe, shape: Shape, fill: Fill) -> float:
    """Operations of an average optimiser step."""
    own = recipe.flops(shape, *recipe.group_sizes(fill.tokens, fill.sentences))
    beside = recipe.mlm_flops(shape, *recipe.mlm_sizes(fill.tokens)) if recipe.mlm_share else 0.0
    return recipe.groups * ((1 - recipe.mlm_share) * own + recipe.mlm_share * beside)


def operations(recipe: PretrainingRecipe, shape: Shape, fill: Fill) -> tuple[float, int]:
    """(operations, steps) of a whole pretraining; the steps are the recipe's, or cost as much as another's."""
    number, other, steps = per_step(recipe, shape, fill), recipe.to_equal(), recipe.steps
    if other is not None:
        steps = max(1, round(per_step(other, shape, fill) * other.steps / number))
    return number * steps, steps
