"""The catalogue's pretraining recipes, as the plan resolves them for every model, at every scale."""

import pytest

from stele import catalogue
from stele.config import parse
from stele.plan import make_plan
from stele.training.flops import Shape, with_steps
from stele.training.recipe import parse_recipe

TRAINED = sorted(key for key, model in catalogue.load("models").items() if "recipe" in model)


@pytest.mark.parametrize("scale", catalogue.scale_names())
@pytest.mark.parametrize("model", TRAINED)
def test_every_model_s_recipe_is_valid(scale, model):
    plan = make_plan(parse({"scale": scale}))
    recipe = parse_recipe(plan.objective_recipe(model), model)
    settled, _ = with_steps(recipe, Shape(layers=12, width=768, inner=3072, vocabulary=250_002))
    assert settled.steps >= 1 and settled.warmup_steps <= settled.steps


def test_the_global_batch_of_the_paper_is_the_same_for_all_sizes_of_the_contrast():
    """Table 6 of MSM varies the negatives alone: 256 documents a step in every row, and for large."""
    plan = make_plan(parse({"scale": "paper"}))
    for model in TRAINED:
        if plan.model(model)["recipe"] == "msm":
            recipe = parse_recipe(plan.objective_recipe(model))
            assert recipe.documents * recipe.groups == 256, model
