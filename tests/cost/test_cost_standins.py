"""What making a stand-in takes: of each kind, whatever it goes on from."""

from types import SimpleNamespace

import pytest

from stele import catalogue
from stele.cluster.sizes import standin_shape
from stele.cluster.training_costs import standin
from stele.recipes.flops import Shape

SCALES = ("miniature", "study", "small")


@pytest.mark.parametrize("scale", SCALES)
def test_every_stand_in_has_its_cost(jobs, scale):
    plan = jobs(scale=scale)
    for key in catalogue.load("standins"):
        work = standin(plan, SimpleNamespace(key=key))
        assert work.flops["training"] > 0 and work.kept > 0, key


def test_a_new_model_has_sizes_of_its_own_and_at_least_a_tokenizer_of_its_base(jobs):
    plan = jobs(scale="miniature")
    words = standin_shape(plan, "xlmr").vocabulary
    for key in ("gte_mbase", "qwen3_06b"):
        recipe = plan.world.recipe(key)
        sizes, own = recipe.architecture, getattr(recipe, "tokenizer", None)
        expected = Shape(sizes.layers, sizes.width, sizes.inner, own.size if own else words)
        assert standin_shape(plan, key) == expected
    assert standin_shape(plan, "me5_base") == standin_shape(plan, "xlmr"), "trained on, as it is"
