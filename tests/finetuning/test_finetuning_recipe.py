"""Recipes: the styles' own values, and errors that name the key."""

import pytest

from stele.errors import SteleError
from stele.finetuning.recipe import parse_recipe

DPR = {"style": "dpr", "training_set": "nq", "dev_set": "nq", "pooling": "mean", "epochs": 40}
XTREME = {"style": "xtreme", "training_set": "squad", "dev_set": "squad", "epochs": 3, "batch": 4, "accumulation": 4}


def test_the_styles_are_those_of_the_released_scripts():
    dpr, xtreme = parse_recipe(DPR), parse_recipe(XTREME)
    spec = dpr.spec()
    assert (spec.towers, spec.normalize, spec.passage_format, spec.query_length) == (
        "separate",
        False,
        "title_text_pair",
        256,
    )
    assert (dpr.batch, dpr.hard_negatives, dpr.temperature, dpr.warmup_steps) == (128, 1, 1.0, 1237)
    assert (dpr.clip_norm, dpr.eps, dpr.weight_decay, dpr.dropout, dpr.scale) == (2.0, 1e-8, 0.0, 0.1, None)
    assert (xtreme.spec().towers, xtreme.spec().pooling, xtreme.spec().normalize) == ("shared", "pooler", True)
    assert (xtreme.scale, xtreme.hard_negatives, xtreme.warmup_steps, xtreme.clip_norm) == (100.0, 0, 0, 1.0)


def test_steps_of_an_epoch_are_whole_groups():
    recipe = parse_recipe(XTREME)
    assert recipe.steps_per_epoch(87_599) == 87_599 // 4 // 4
    assert recipe.total_steps(87_599) == 3 * (87_599 // 4 // 4)
    assert parse_recipe({**DPR, "epochs": 0.5}).total_steps(1_280) == 5
    with pytest.raises(SteleError, match="15 usable examples, one optimiser step takes 4 x 4"):
        recipe.steps_per_epoch(15)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"style": "drp"}, r"unknown style 'drp'; did you mean 'dpr'"),
        ({"learningrate": 1}, r"unknown key 'learningrate'; did you mean 'learning_rate'"),
        ({"steps": 5}, "either `epochs` or `steps`"),
        ({"epochs": None}, "either `epochs` or `steps`"),
        ({"selection": "best"}, "want last, dev_nll or average_rank_from_epoch_N, found 'best'"),
        ({"selection": "dev_nll", "dev_set": None}, "needs `dev_set`"),
        ({"batch": 1, "hard_negatives": 0}, "no candidate but its positive"),
        ({"batch": 0}, "batch: "),
        ({"pooling": None}, "pooling"),
    ],
)
def test_wrong_recipes(change, message):
    with pytest.raises(SteleError, match=message):
        parse_recipe({**DPR, **change})
