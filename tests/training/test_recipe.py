"""Recipes: every value is said, and errors say what to write. The papers' values: tests/pretraining."""

import pytest

from stele.errors import SteleError
from stele.recipes.pretraining import parse_recipe

MLM = dict(objective="mlm", groups=2, mlm_sequences=4, mlm_length=16, mask_probability=0.15, sampling_alpha=0.3)
MLM |= dict(dropout=0.1, learning_rate=1e-3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01, clip_norm=None)
MSM = MLM | dict(
    objective="msm", documents=2, sentences=3, sentence_length=8, layers=1, mu=0.5, temperature=0.1, projector="none"
)


def test_optimisation_takes_the_recipe_s_values():
    given = {"steps": 7, "clip_norm": 2.0, "threads": 2, "decay_all": False}
    recipe_read = parse_recipe({**MLM, **given})
    assert recipe_read.model_dump(include={*given, "betas", "eps", "weight_decay"}) == {
        **given,
        "betas": (0.9, 0.98),
        "eps": 1e-6,
        "weight_decay": 0.01,
    }


@pytest.mark.parametrize("key", sorted({*MSM} - {"objective", "mlm_sequences", "mlm_length", "mask_probability"}))
def test_no_value_of_a_paper_is_taken_in_silence(key):
    """A recipe that does not say one of these is refused, whatever another paper's recipe says."""
    with pytest.raises(SteleError, match=f"{key}: Field required"):
        parse_recipe({name: value for name, value in MSM.items() if name != key} | {"steps": 3})


def test_the_recipe_to_equal():
    assert parse_recipe({**MLM, "steps": 3}).to_equal() is None
    other = parse_recipe({**MLM, "equal_compute_to": {**MSM, "steps": 9}}).to_equal()
    assert (other.objective, other.steps) == ("msm", 9)
    nested = {**MLM, "equal_compute_to": {**MLM, "equal_compute_to": {**MSM, "steps": 9}}}
    with pytest.raises(SteleError, match="want a recipe that says its `steps`"):
        parse_recipe(nested).to_equal()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"steps": 3}, "give `objective`"),
        ({"objective": "mms", "steps": 3}, "unknown objective 'mms'; did you mean"),
        ({"objective": "msm", "steps": 3, "document": 4}, "unknown key 'document'; did you mean 'documents'"),
        ({**MSM, "steps": 3, "mu": -1}, r"mu: .*\(found -1\)"),
        ({**MSM, "steps": 3, "projector": "both"}, "projector: .*asymmetric"),
        (MSM, "either `steps` or `equal_compute_to`"),
        ({**MLM, "steps": 3, "equal_compute_to": {}}, "either `steps` or `equal_compute_to`"),
        ({**MSM, "steps": 3, "snapshots": [2, 4]}, "step 4 is past the last one, 3"),
        ({**MSM, "steps": 3, "mlm_share": 0.4, "mlm_length": None}, "MLM batches need mlm_sequences, mlm_length and"),
        ({"objective": "crop", "steps": 3, "layers": 2}, "unknown key 'layers'"),
    ],
)
def test_errors_say_what_to_write(values, message):
    with pytest.raises(SteleError, match=message):
        parse_recipe(values)
