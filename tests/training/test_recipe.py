"""Recipes: the papers' values as defaults, and errors that say what to write."""

import pytest

from stele.errors import SteleError
from stele.training.recipe import parse_recipe


def test_msm_s_defaults_are_the_paper_s():
    recipe = parse_recipe({"objective": "msm", "steps": 200_000})
    assert (recipe.learning_rate, recipe.warmup_steps, recipe.betas, recipe.eps) == (4e-5, 10_000, (0.9, 0.98), 1e-6)
    assert (recipe.weight_decay, recipe.clip_norm, recipe.dropout, recipe.schedule) == (0.01, None, 0.1, "linear")
    assert (recipe.documents, recipe.sentences, recipe.sentence_length, recipe.groups) == (16, 32, 64, 16)
    assert (recipe.mu, recipe.temperature, recipe.layers, recipe.projector) == (0.5, 0.1, 2, "asymmetric")
    assert (recipe.mlm_sequences, recipe.mlm_length) == (128, 256)
    assert recipe.mlm_share / (1 - recipe.mlm_share) == pytest.approx(0.4)
    assert recipe.documents * recipe.sentences * recipe.sentence_length == recipe.mlm_sequences * recipe.mlm_length


def test_optimisation_takes_the_recipe_s_values():
    found = parse_recipe({"objective": "mlm", "steps": 7, "clip_norm": 2.0, "threads": 2}).optimisation()
    assert (found.steps, found.clip_norm, found.threads, found.betas) == (7, 2.0, 2, (0.9, 0.98))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"steps": 3}, "give `objective`"),
        ({"objective": "mms", "steps": 3}, "unknown objective 'mms'; did you mean"),
        ({"objective": "msm", "steps": 3, "document": 4}, "unknown key 'document'; did you mean 'documents'"),
        ({"objective": "msm", "steps": 3, "mu": -1}, r"mu: .*\(found -1\)"),
        ({"objective": "msm", "steps": 3, "projector": "both"}, "projector: .*asymmetric"),
        ({"objective": "msm"}, "either `steps` or `equal_compute_to`"),
        ({"objective": "mlm", "steps": 3, "equal_compute_to": {}}, "either `steps` or `equal_compute_to`"),
        ({"objective": "msm", "steps": 3, "snapshots": [2, 4]}, "step 4 is past the last one, 3"),
        ({"objective": "crop", "steps": 3, "layers": 2}, "unknown key 'layers'"),
    ],
)
def test_errors_say_what_to_write(values, message):
    with pytest.raises(SteleError, match=message):
        parse_recipe(values)
